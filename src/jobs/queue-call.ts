/** A call of Redis. @param what names it in the error */
export type QueueCall = <T>(what: string, commands: () => Promise<T>) => Promise<T>;

interface ExampleService {
  readonly url: string;
  readonly key: string;
}
export function examplesOf(language: 'ts' | 'python'): string[];
export function tryTypeScript(project: string, service: ExampleService, port: number): Promise<string[]>;
export function tryPython(python: string, project: string, service: ExampleService, port: number): Promise<string[]>;

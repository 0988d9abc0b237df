/** Search vectors: of changes and of texts, compared by the cosine. */

/** A vector of length 1, and the bundle whose graphs made it: those of other bundles are not comparable. */
export interface SearchVector {
  /** sha256 of the bundle */
  readonly bundle: string;
  readonly values: Float32Array;
}

export interface VectorOfChange {
  /** its id */
  readonly change: string;
  readonly vector: SearchVector;
}

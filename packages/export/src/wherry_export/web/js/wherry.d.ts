/** Models of Wherry in pages: bundles that `wherry.export.web` writes, answered in WebAssembly. */

export type DType = "bool" | "uint8" | "int8" | "int16" | "int32" | "int64" | "float32" | "float64" | "complex64" | "complex128" | "float16" | "bfloat16";

/** Numbers of a tensor, row by row. int64 is a BigInt64Array, bool a Uint8Array of 0 and 1, 16-bit floats their bits, complex numbers pairs. */
export type TensorData = Uint8Array | Int8Array | Int16Array | Int32Array | BigInt64Array | Uint16Array | Float32Array | Float64Array;

export interface Tensor {
  data: TensorData;
  shape: number[];
  dtype: DType;
}

/** Typed arrays are taken as they are; other arrays are converted. Without a shape, one open size is found from the length. */
export type Input = TensorData | number[] | NestedNumbers | { data: TensorData | number[]; shape?: number[] };
export type NestedNumbers = (number | NestedNumbers)[];

export interface Description {
  name: string;
  dtype: DType;
  /** A name stands for a size that is open; the same name for the same size. */
  shape: (number | string)[];
}

export interface Progress {
  /** Bytes so far. */
  loaded: number;
  /** Bytes of the whole bundle. */
  total: number;
}

export interface LoadOptions {
  /** Aborting it stops the download; `load` then rejects with its reason. */
  signal?: AbortSignal;
  onprogress?: (progress: Progress) => void;
  /** Answer in a worker, so that the page never waits? Default: where there are workers and a document. */
  worker?: boolean;
  /**
   * At most so many threads compute, in workers of their own that share the model's memory. Default: 4, or as many processors as the
   * device has, where the page is cross-origin isolated, else 1. Pages that are not isolated always have one. In Node the default is 1.
   */
  threads?: number;
}

/** What went wrong, in words for people. */
export declare class WherryError extends Error {
  code: "input" | "network" | "format" | "kernel" | "memory" | "browser";
}

/** A loaded model. */
export declare class Model {
  readonly title: string;
  /** Names of the classes, where the export was told them. */
  readonly labels: string[] | null;
  /** What the page does to pictures before the model gets them. */
  readonly preprocess: Preprocess | null;
  readonly inputs: Description[];
  readonly outputs: Description[];
  readonly precision: "float32" | "float16" | "int8";
  /** Of the files that were loaded. */
  readonly bytes: number;
  /** How many threads compute. */
  readonly threads: number;
  /** Predict. A model with one input also takes that input alone. */
  predict(inputs: { [name: string]: Input } | Input, options?: { signal?: AbortSignal }): Promise<{ [name: string]: Tensor }>;
  /** Bytes of memory that the engine has taken. */
  memory(): Promise<number>;
  /** Lets the worker and the memory go. */
  close(): void;
}

/** Channels become `(value / 255 - mean) / std`. */
export interface Preprocess {
  mean?: number[];
  std?: number[];
  /** Dark ink on white becomes light on dark, as in sets of handwritten digits. */
  invert?: boolean;
}

/**
 * Fetches a bundle and prepares it.
 * @param url of the folder that `wherry.export.web` wrote, or of the manifest.json in it; relative to the page.
 */
export declare function load(url: string | URL, options?: LoadOptions): Promise<Model>;

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
export type Numbers = TensorData | Uint8ClampedArray | readonly (number | bigint | boolean)[];
export type Input = Numbers | NestedNumbers | { data: Numbers | NestedNumbers; shape?: readonly number[] };
export type NestedNumbers = readonly (number | bigint | boolean | NestedNumbers)[];

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
  /**
   * Answer in a worker, so that the page never waits? Default: where there are workers and a document. Or a worker of the page's own that
   * runs worker.js, for this model alone.
   */
  worker?: boolean | Worker;
  /**
   * At most so many threads compute, in workers of their own that share the model's memory. Default: 4, or as many processors as the
   * device has, where the page is cross-origin isolated, else 1. Pages that are not isolated always have one. In Node the default is 1.
   */
  threads?: number;
  /** The content of every file of the manifest by name, manifest.json among them: nothing is fetched. Not of bundles that train. */
  files?: Record<string, Uint8Array>;
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
  /** Of a model of tables, where the export was told them: the model takes the place of a word among the words. */
  readonly columns?: { name: string; words: string[] | null }[];
  /** What the page does to pictures before the model gets them. */
  readonly preprocess: Preprocess | null;
  readonly inputs: Description[];
  readonly outputs: Description[];
  readonly precision: "float32" | "float16" | "int8";
  /** Of the files that were loaded. */
  readonly bytes: number;
  /** How many threads compute. */
  readonly threads: number;
  /** Predict. A model with one input also takes that input alone. Aborting `signal` ends it after the present kernel, and rejects with its reason. */
  predict(inputs: { [name: string]: Input } | Input, options?: { signal?: AbortSignal }): Promise<{ [name: string]: Tensor }>;
  /** Was it exported with `engine="train"`? */
  readonly trains: boolean;
  /**
   * Trains the model in the page; `predict` answers with the new weights afterwards. Python and Wherry load when it is called first (some 6 MB,
   * a few seconds). Predictions that are asked for meanwhile come between steps, from the weights before. Each call begins its optimizer anew.
   * @param inputs as in `predict`, their first axis is the examples.
   * @param targets what the first output should be: with "cross_entropy" numbers of classes (or probabilities), else numbers of its shape.
   */
  train(inputs: { [name: string]: Input } | Input, targets: Input, options?: TrainOptions): Promise<Trained>;
  /** The parameters as the content of a `.pdparams` file, under the names that the layers gave them; Wherry and Paddle load it. */
  save(form?: "pdparams"): Promise<Uint8Array>;
  /** The program with its parameters: the files of `paddle.jit.save`, by name. */
  save(form: "pdmodel"): Promise<{ [name: string]: Uint8Array }>;
  /** Bytes of memory that the engine has taken. */
  memory(): Promise<number>;
  /** Lets the worker and the memory go. */
  close(): void;
}

export interface TrainOptions {
  /** How often each example is seen; default: 1. */
  epochs?: number;
  /** Examples of a step; default: 32. */
  batchSize?: number;
  /** Default: 0.001. */
  learningRate?: number;
  /** Default: "Adam". */
  optimizer?: "Adam" | "AdamW" | "Momentum" | "SGD" | "RMSProp" | "Adagrad";
  /** Default: "cross_entropy", of scores before a softmax; "binary_cross_entropy" too is of scores. */
  loss?: "cross_entropy" | "binary_cross_entropy" | "mse" | "l1" | "smooth_l1";
  /** Draw a new order for each epoch? Default: true. */
  shuffle?: boolean;
  /** Of the orders, and of dropout; default: 0. */
  seed?: number;
  /** Aborting it ends the training after the present step: `train` rejects with its reason, and the model keeps what it has learned. */
  signal?: AbortSignal;
  onprogress?: (progress: TrainProgress) => void;
}

export interface TrainProgress {
  /** What is going on, in words: loading, at first. Only then are the other fields left out. */
  stage: string;
  /** The last step, and of how many. */
  step?: number;
  steps?: number;
  examples?: number;
  /** The steps since the progress before. */
  latest?: TrainStep[];
  /** Epochs that ended since then. */
  epochs?: TrainEpoch[];
}

export interface TrainStep {
  /** Counted from 1. */
  step: number;
  epoch: number;
  loss: number;
  /** Share of the batch; where targets are numbers of classes. */
  accuracy?: number;
}

/** Means over the examples of an epoch. */
export interface TrainEpoch {
  epoch: number;
  loss: number;
  accuracy?: number;
}

export interface Trained {
  steps: number;
  history: TrainEpoch[];
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

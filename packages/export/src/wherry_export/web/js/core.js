// What answers: a program, its weights and the module of kernels. Knows neither the network nor workers; wherry.js does.
//
// The program comes as data (program.py says how): values with shapes that may depend on open sizes, and steps that call kernels. For each
// tuple of open sizes it is laid out once: the structs of the kernel ABI (abi.h) are written into the memory of the module, and a
// prediction copies the inputs in, calls `wherry_run`, and copies the outputs out.

const NAMES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"];
const BYTES = [1, 1, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16];
const ARRAYS = {
  bool: Uint8Array, uint8: Uint8Array, int8: Int8Array, int16: Int16Array, int32: Int32Array, int64: BigInt64Array,
  float16: Uint16Array, bfloat16: Uint16Array, float32: Float32Array, float64: Float64Array, complex64: Float32Array, complex128: Float64Array,
};
export const ARRAY_DTYPES = new Map([...["uint8", "int8", "int16", "int32", "int64", "float32", "float64"].map((dtype) => [ARRAYS[dtype], dtype]), [Uint8ClampedArray, "uint8"]]);
const ARENA = 0, EXTERNAL = 1; // where a buffer lies; else it is a result
const TENSOR = 40, ATTR = 16, STEP = 40; // bytes of the structs
const KEPT = 8; // layouts, those used last
const ALIGNED = 64;
const MOST_BYTES = 2 ** 32 - 65536; // of the module's memory
const MOST_AXES = 64;
const SLICE = 40; // milliseconds of kernels, then messages have their turn

export const FORMAT = 1; // of programs

/** What went wrong, in words for people. `code` is one for programs: "input", "network", "format", "kernel", "memory", "browser". */
export class WherryError extends Error {
  constructor(code, message, options) {
    super(message, options);
    this.name = "WherryError";
    this.code = code;
  }
}

export class Engine {
  #exports;
  #memory;
  #program;
  #context;
  #weights = new Map(); // number of a value -> {address, bytes}
  #layouts = new Map(); // open sizes as text -> Layout
  #current = null; // a promise: the prediction that runs
  #aborted = false;
  #due = 0; // when messages have their turn again

  // module: a compiled WebAssembly.Module; bytesOf(shard, offset, length) gives bytes of the weights; memory: what the module imports;
  // threads: how many instances of it will run loops in that memory (pool.js).
  constructor(module, program, bytesOf, memory, threads = 1) {
    if (program?.format !== FORMAT) {
      throw new WherryError("format", `This bundle was made by another version of Wherry. Got format ${program?.format}, expected ${FORMAT}. Export the model again, or load it with the wherry.js beside it.`);
    }
    this.#program = program;
    this.#exports = new WebAssembly.Instance(module, { env: { memory } }).exports;
    this.#memory = memory ?? this.#exports.memory; // that of the module itself, in bundles of Wherry 0.3
    this.threads = threads;
    this.#exports.__wasm_call_ctors();
    this.#context = this.#exports.wherry_context(threads, Number(typeof document === "undefined"));
    sound(() => {
      for (const weight of program.weights) this.#weights.set(weight.id, this.#upload(weight, bytesOf));
      for (const { name, id, dtype, shape } of program.inputs) {
        const known = typeof name === "string" && Number.isSafeInteger(id) && typeof dtype === "string" && Object.hasOwn(ARRAYS, dtype);
        if (!known || !shape.every((n) => typeof n === "string" || (Number.isSafeInteger(n) && n >= 0))) throw new Error("an input is none");
      }
      if (!Array.isArray(program.sizes) || !Array.isArray(program.outputs)) throw new Error("lists are missing");
    });
  }

  get inputs() { return this.#program.inputs; }
  get outputs() { return this.#program.outputs; }
  /** Bytes that the module has taken. */
  get memory() { return this.#memory.buffer.byteLength; }

  /** Memory of the module: the address of so many bytes. */
  take(bytes) {
    return this.#take(bytes);
  }

  /** {name: {data, shape, dtype}} from {name: array or {data, shape}}, or from the array alone where there is one input; one call at a time. */
  async predict(given) {
    if (this.#current) throw new WherryError("input", "The engine is predicting already. Await the first call.");
    this.#aborted = false;
    this.#due = performance.now() + SLICE;
    this.#current = this.#predicted(given);
    try {
      return await this.#current;
    } finally {
      this.#current = null;
    }
  }

  /** Ends the prediction that runs after its present kernel. */
  abort() {
    this.#aborted = true;
  }

  /** Resolves when no prediction runs. */
  async settled() {
    while (this.#current) await this.#current.catch(() => {});
  }

  async #predicted(given) {
    const { sizes, values } = this.#understood(given);
    const layout = this.#layoutFor(sizes);
    for (const [i, { data }] of values.entries()) {
      const { address, bytes } = layout.values.get(this.#program.inputs[i].id);
      new Uint8Array(this.#memory.buffer, address, bytes).set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
    }
    try {
      await this.#runBlock(this.#program.block, layout);
    } catch (error) {
      if (error instanceof WherryError) throw error;
      throw new WherryError("kernel", `The model stopped: ${error.message}. Its bundle may be damaged; export the model again.`, { cause: error });
    }
    const answer = {};
    for (const { name, id } of this.#program.outputs) {
      const { address, shape, dtype } = layout.values.get(id);
      const Kind = ARRAYS[NAMES[dtype]];
      const length = count(shape) * (dtype >= 10 ? 2 : 1);
      answer[name] = { data: new Kind(this.#memory.buffer, address, length).slice(), shape: [...shape], dtype: NAMES[dtype] };
    }
    return answer;
  }

  /** Inputs as arrays of their kinds, without predicting: {data, shape, dtype} in the order of the inputs. */
  examples(given) {
    return this.#understood(given).values.map((value, i) => ({ ...value, dtype: this.#program.inputs[i].dtype }));
  }

  /** Puts other weights in the places of those it has: the same ids and shapes. */
  replace(weights, bytesOf) {
    for (const weight of weights) this.#write(weight, this.#weights.get(weight.id).address, bytesOf);
  }

  // Inputs.

  #understood(given) {
    const inputs = this.#program.inputs;
    if (given === null || typeof given !== "object") throw new WherryError("input", `predict takes inputs by name. Got ${typeof given}, expected {${inputs.map((x) => x.name).join(", ")}}.`);
    const alone = ArrayBuffer.isView(given) || Array.isArray(given) || (given.data !== undefined && !(inputs.some((x) => x.name === "data")));
    if (alone && inputs.length !== 1) throw new WherryError("input", `The model takes ${inputs.length} inputs. Got one array, expected {${inputs.map((x) => x.name).join(", ")}}.`);
    const named = alone ? { [inputs[0].name]: given } : given;
    for (const name of Object.keys(named)) {
      if (!inputs.some((x) => x.name === name)) throw new WherryError("input", `The model has no input '${name}'. Expected ${inputs.map((x) => `'${x.name}'`).join(", ")}.`);
    }
    const sizes = new Array(this.#program.sizes.length).fill(null);
    const values = inputs.map((input) => {
      if (named[input.name] === undefined) throw new WherryError("input", `Input '${input.name}' is missing. Expected ${input.dtype} of shape ${shown(input.shape, this.#program.sizes)}.`);
      return this.#value(input, named[input.name], sizes);
    });
    return { sizes, values };
  }

  #value(input, given, sizes) {
    const expected = `${input.dtype} of shape ${shown(input.shape, this.#program.sizes)}`;
    if (given === null || typeof given !== "object") throw new WherryError("input", `Input '${input.name}' is not an array. Got ${given === null ? "null" : typeof given}, expected ${expected}.`);
    let { data, shape } = ArrayBuffer.isView(given) || Array.isArray(given) ? { data: given, shape: null } : given;
    if (Array.isArray(data) && Array.isArray(data[0])) {
      shape ??= shapeOf(data);
      data = data.flat(Infinity);
    }
    if (!ArrayBuffer.isView(data) && !Array.isArray(data)) throw new WherryError("input", `Input '${input.name}' is not an array. Got ${data === null ? "null" : typeof data}, expected ${expected}.`);
    if (shape !== undefined && shape !== null && !(Array.isArray(shape) && shape.every((n) => Number.isInteger(n) && n >= 0))) throw new WherryError("input", `Input '${input.name}' has no shape. Got ${String(JSON.stringify(shape)).slice(0, 100)}, expected a list of sizes.`);
    if (Array.isArray(data)) {
      const other = data.find((x) => typeof x !== "number" && typeof x !== "bigint" && typeof x !== "boolean");
      if (other !== undefined || data.includes(undefined)) throw new WherryError("input", `Input '${input.name}' holds other things than numbers. Got ${Array.isArray(other) ? "rows of different depths" : `'${String(other)}' (${other === null ? "null" : typeof other})`}, expected ${expected}.`);
    }
    const Kind = ARRAYS[input.dtype];
    const complex = input.dtype.startsWith("complex") ? 2 : 1;
    const length = data.length / complex;
    shape = shape ? [...shape] : inferred(input.shape, length, sizes);
    if (!shape || shape.length !== input.shape.length || count(shape) !== length || shape.some((n) => !Number.isInteger(n) || n < 0)) {
      throw new WherryError("input", `Input '${input.name}' does not fit. Got ${data.length} numbers${shape ? ` for shape [${shape}]` : ""}, expected ${expected}. Pass {data, shape}.`);
    }
    for (const [axis, size] of input.shape.entries()) {
      const open = typeof size === "string" ? this.#program.sizes.indexOf(size) : -1;
      const wanted = open < 0 ? size : sizes[open];
      if (open >= 0 && wanted === null) {
        if (shape[axis] < 1) throw new WherryError("input", `Input '${input.name}' is empty. Got shape [${shape}], expected ${expected} with sizes of at least 1.`);
        sizes[open] = shape[axis];
      } else if (wanted !== shape[axis]) throw new WherryError("input", `Input '${input.name}' does not fit. Got shape [${shape}], expected ${expected}${open >= 0 ? `, and ${size} = ${wanted} as in the inputs before` : ""}.`);
    }
    if (!(data instanceof Kind)) {
      const big = Kind === BigInt64Array;
      if (big && (data instanceof Float32Array || data instanceof Float64Array)) throw new WherryError("input", `Input '${input.name}' holds whole numbers. Got ${data.constructor.name}, expected ${expected} as BigInt64Array or Int32Array.`);
      try {
        data = input.dtype === "bool" ? Kind.from(data, (x) => (x ? 1 : 0)) : Kind.from(data, big ? (x) => BigInt(x) : Number);
      } catch (error) {
        throw new WherryError("input", `Input '${input.name}' cannot be converted: ${error.message}. Expected ${expected}.`, { cause: error });
      }
    }
    return { data, shape };
  }

  // Weights.

  #upload(weight, bytesOf) {
    const bytes = isKept(weight) ? weight.bytes : BYTES[weight.dtype] * count(weight.shape);
    const address = this.#take(bytes);
    this.#write(weight, address, bytesOf);
    return { address, bytes };
  }

  #write(weight, address, bytesOf) {
    const size = BYTES[weight.dtype] * count(weight.shape);
    const raw = bytesOf(weight.shard, weight.offset, weight.bytes), n = count(weight.shape);
    const expected = { raw: size, float16: 2 * n, int8: weight.scales + 4 * count((weight.axes ?? []).map((axis) => weight.shape[axis])), packed: weight.bytes }[weight.encoding];
    if (!(raw?.length === (expected ?? raw?.length) && (weight.encoding !== "int8" || weight.scales >= n))) throw new Error(`weight '${weight.name}' has ${raw?.length} bytes in place of ${expected}`);
    if (isKept(weight)) new Uint8Array(this.#memory.buffer, address, raw.length).set(raw);
    else {
      const to = new Float32Array(this.#memory.buffer, address, count(weight.shape));
      if (weight.encoding === "float16") widened(new Uint16Array(raw.slice().buffer), to);
      else if (weight.encoding === "int8") scaled(raw, weight, to);
      else throw new WherryError("format", `Weight '${weight.name}' is stored in a way that this wherry.js does not know. Got ${weight.encoding}, expected raw, float16, int8 or packed.`);
    }
  }

  // Layouts: everything that is known when the open sizes are.

  #layoutFor(sizes) {
    const key = sizes.join();
    let layout = this.#layouts.get(key);
    if (layout) this.#layouts.delete(key);
    else {
      while (this.#layouts.size >= KEPT) this.#drop(this.#layouts.keys().next().value);
      layout = { values: new Map(), runs: new Map(), blocks: [], some: 16 };
      try {
        sound(() => this.#layOut(sizes, layout));
      } catch (error) {
        for (const block of layout.blocks) this.#exports.wherry_give(block);
        throw error;
      }
    }
    this.#layouts.set(key, layout);
    return layout;
  }

  #drop(key) {
    for (const block of this.#layouts.get(key).blocks) this.#exports.wherry_give(block);
    this.#layouts.delete(key);
  }

  #layOut(open, layout) {
    const sizes = [...open, ...(this.#program.floors ?? []).map(([i, a, s]) => Math.floor((open[i] + a) / s))]; // after strides
    if (sizes.some((n) => n < 1)) throw new WherryError("input", `The inputs are too small for the model. Got ${this.#program.sizes.map((name, i) => `${name} = ${open[i]}`).join(", ")}, of which its windows leave nothing. Use larger ones.`);
    const number = (x) => (typeof x === "number" ? x : x.poly.reduce((sum, [factor, powers]) => sum + factor * powers.reduce((p, power, i) => p * sizes[i] ** power, 1), 0));
    const place = (id, dtype, shape) => {
      const bytes = BYTES[dtype] * count(shape);
      layout.values.set(id, { address: this.#take(bytes, layout), bytes, shape, dtype });
    };
    for (const { id, dtype, shape } of this.#program.weights) layout.values.set(id, { address: this.#weights.get(id).address, held: this.#weights.get(id).bytes, bytes: BYTES[dtype] * count(shape), shape, dtype });
    for (const { id, dtype, shape } of this.#program.inputs) {
      place(id, NAMES.indexOf(dtype), shape.map((n) => (typeof n === "string" ? sizes[this.#program.sizes.indexOf(n)] : n)));
    }
    const runs = [], carries = [];
    const visit = (block) => {
      for (const item of block) {
        if (item.kind === "run") {
          const run = this.#numbers(item, number);
          runs.push([item, run]);
          for (const [i, id] of item.out.entries()) {
            const slot = run.slots[item.outputs[i]];
            place(id, slot.dtype, slot.shape);
          }
        } else {
          for (const inner of item.blocks) visit(inner);
          for (const { id, dtype, shape } of item.carried) place(id, dtype, shape.map(number));
          carries.push(item);
        }
      }
    };
    visit(this.#program.block);
    for (const { id } of this.#program.outputs) {
      const { bytes, held = bytes } = there(layout, id);
      if (held < bytes) throw new Error(`output ${id} is a weight in the order of a kernel`); // which has fewer bytes than its shape says
    }
    for (const { kind, condition, given, start, carried } of carries) {
      there(layout, condition, 1);
      for (const from of kind === "if" ? given : [given, start]) carried.forEach(({ id }, i) => there(layout, from[i], there(layout, id).bytes));
    }
    const arena = this.#take(Math.max(0, ...runs.map(([, run]) => run.arena)), layout);
    for (const [item, run] of runs) layout.runs.set(item, this.#written(item, run, arena, layout));
  }

  // The numbers of a run for these sizes, and where its buffers lie in the arena: the first hole that is large enough.
  #numbers(item, number) {
    const slots = item.slots.map(([dtype, shape, strides, buffer, offset]) => {
      const sizes = shape.map(number);
      return { dtype, shape: sizes, strides: strides ? strides.map(number) : contiguous(sizes), buffer, offset: number(offset) };
    });
    const buffers = item.buffers.map(([kind, index, dtype, shape, first, last]) => ({ kind, index, bytes: BYTES[dtype] * count(shape.map(number)), first, last, offset: 0 }));
    const live = [];
    let arena = 0;
    for (const buffer of buffers.filter((b) => b.kind === ARENA).sort((a, b) => a.first - b.first || b.bytes - a.bytes)) {
      const wanted = up(Math.max(buffer.bytes, 1));
      let at = 0;
      for (const other of live.filter((o) => o.last >= buffer.first).sort((a, b) => a.offset - b.offset)) {
        if (other.offset - at >= wanted) break;
        at = Math.max(at, other.offset + up(Math.max(other.bytes, 1)));
      }
      buffer.offset = at;
      arena = Math.max(arena, at + wanted);
      live.push(buffer);
    }
    const attrs = item.steps.map(([, , , , values]) => values.map(([kind, value]) => [kind, kind === 1 ? (typeof value === "string" ? BigInt(value) : number(value)) : kind === 3 ? value.map((n) => (typeof n === "string" ? BigInt(n) : number(n))) : value]));
    return { slots, buffers, arena, attrs, constants: item.constants.map(([dtype, shape, data]) => [dtype, shape, data.map((x) => (typeof x === "string" ? (dtype === 5 ? BigInt(x) : Number(x)) : number(x)))]) };
  }

  // Writes the structs of a run.
  #written(item, { slots, buffers, attrs, constants }, arena, layout) {
    const fixed = constants.map(([dtype, shape, data]) => {
      const address = this.#take(BYTES[dtype] * count(shape), layout);
      const Kind = ARRAYS[NAMES[dtype]];
      new Kind(this.#memory.buffer, address, data.length).set(Kind === BigInt64Array ? data.map(BigInt) : data);
      return address;
    });
    const base = ({ kind, index, offset, bytes }) => {
      if (kind === ARENA) return arena + offset;
      if (kind === EXTERNAL && index >= item.in.length) return fixed[index - item.in.length];
      return there(layout, kind === EXTERNAL ? item.in[index] : item.out[item.results[index]], bytes).address;
    };
    for (const slot of slots) within(slot, buffers[slot.buffer]);
    for (const { kind, index, bytes } of buffers) {
      const one = constants[index - item.in.length];
      if (kind === EXTERNAL && index >= item.in.length && !(one && bytes <= BYTES[one[0]] * count(one[1]))) throw new Error("a constant is too small");
    }
    for (const [kernel, , ins, outs] of item.steps) {
      if (!this.#exports.__indirect_function_table.get(kernel)) throw new Error(`there is no kernel ${kernel}`);
      for (const slot of [...ins, ...outs]) if (slot !== -1 && !slots[slot]) throw new Error(`there is no tensor ${slot}`);
    }
    const texts = new TextEncoder();
    let bytes = slots.reduce((sum, slot) => sum + TENSOR + 16 * slot.shape.length, 0) + item.steps.length * STEP;
    for (const [i, [, , ins, outs]] of item.steps.entries()) {
      bytes += 8 * Math.ceil((ins.length + outs.length) / 2);
      for (const [kind, value] of attrs[i]) bytes += ATTR + (kind === 3 || kind === 4 ? 8 * value.length : kind === 5 ? up(texts.encode(value).length + 1, 8) : 0);
    }
    let at = this.#take(bytes, layout);
    const view = new DataView(this.#memory.buffer);
    const room = (n) => ((at += n), at - n);
    const int = (where, value) => view.setInt32(where, value, true);
    const long = (where, value) => view.setBigInt64(where, BigInt(value), true);
    const addresses = slots.map((slot) => {
      const rank = slot.shape.length;
      const tensor = room(TENSOR), shape = room(8 * rank), strides = room(8 * rank);
      int(tensor, base(buffers[slot.buffer]) + slot.offset);
      int(tensor + 4, shape);
      int(tensor + 8, strides);
      long(tensor + 16, count(slot.shape));
      int(tensor + 24, slot.dtype);
      int(tensor + 28, rank);
      int(tensor + 32, 0);
      int(tensor + 36, 0);
      slot.shape.forEach((n, i) => long(shape + 8 * i, n));
      slot.strides.forEach((n, i) => long(strides + 8 * i, n));
      return tensor;
    });
    const steps = room(item.steps.length * STEP);
    item.steps.forEach(([kernel, data, ins, outs], n) => {
      const pointers = room(8 * Math.ceil((ins.length + outs.length) / 2));
      [...ins, ...outs].forEach((slot, i) => int(pointers + 4 * i, slot < 0 ? 0 : addresses[slot]));
      const list = room(ATTR * attrs[n].length);
      attrs[n].forEach(([kind, value], i) => {
        const attr = list + ATTR * i;
        int(attr, kind);
        int(attr + 4, 0);
        if (kind === 0) long(attr + 8, 0);
        else if (kind === 1) long(attr + 8, value);
        else if (kind === 2) view.setFloat64(attr + 8, Number(value), true);
        else {
          const encoded = kind === 5 ? texts.encode(value) : value;
          const where = room(kind === 5 ? up(encoded.length + 1, 8) : 8 * encoded.length);
          int(attr + 4, encoded.length);
          int(attr + 8, where);
          int(attr + 12, 0);
          if (kind === 5) new Uint8Array(this.#memory.buffer, where, encoded.length + 1).set([...encoded, 0]);
          else encoded.forEach((x, k) => (kind === 3 ? long(where + 8 * k, x) : view.setFloat64(where + 8 * k, Number(x), true)));
        }
      });
      const step = steps + STEP * n;
      [kernel, pointers, pointers + 4 * ins.length, list, this.#context, ins.length, outs.length, attrs[n].length, 0, data].forEach((word, i) => int(step + 4 * i, word));
    });
    return { steps, n: item.steps.length };
  }

  // Running.

  // Steps go to the module some at a time, so many that it comes back every few milliseconds.
  async #runBlock(block, layout) {
    for (const item of block) {
      if (item.kind === "run") {
        const { steps, n } = layout.runs.get(item);
        for (let done = 0, some = n; done < n; done += some) {
          some = Math.min(layout.some, n - done);
          const begun = performance.now();
          const failed = this.#exports.wherry_run(steps + STEP * done, some);
          if (failed >= 0) throw new WherryError("kernel", `${item.ops[done + failed]}: ${this.#text(this.#exports.wherry_error()) || "it failed without a message."}`);
          const now = performance.now();
          if (now - begun < SLICE / 8) layout.some = Math.min(2 * layout.some, 4096);
          else if (now - begun > SLICE / 2) layout.some = Math.max(1, layout.some >> 1);
          if (now > this.#due) await this.#pause();
        }
      } else if (item.kind === "if") {
        const taken = this.#truth(item.condition, layout) ? 0 : 1;
        await this.#runBlock(item.blocks[taken], layout);
        this.#copies(item.given[taken], item.carried.map((x) => x.id), layout);
      } else {
        this.#copies(item.start, item.carried.map((x) => x.id), layout);
        for (;;) {
          await this.#runBlock(item.blocks[0], layout);
          if (!this.#truth(item.condition, layout)) break;
          await this.#runBlock(item.blocks[1], layout);
          this.#copies(item.given, item.carried.map((x) => x.id), layout);
          if (performance.now() > this.#due) await this.#pause();
        }
      }
    }
  }

  // Lets what has come in meanwhile have its turn. Not by a timer: tabs in the background have slow ones.
  async #pause() {
    await new Promise((resolve) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {
        port1.close();
        resolve();
      };
      port2.postMessage(null);
    });
    if (this.#aborted) throw new WherryError("browser", "The prediction was aborted.");
    this.#due = performance.now() + SLICE;
  }

  #truth(id, layout) {
    return new Uint8Array(this.#memory.buffer)[layout.values.get(id).address] !== 0;
  }

  // All are read before one is written: they may have changed places.
  #copies(from, to, layout) {
    const memory = new Uint8Array(this.#memory.buffer);
    const contents = from.map((id, i) => {
      const { address } = layout.values.get(id);
      return memory.slice(address, address + layout.values.get(to[i]).bytes);
    });
    contents.forEach((bytes, i) => memory.set(bytes, layout.values.get(to[i]).address));
  }

  #take(bytes, layout) {
    if (!(bytes >= 0)) throw new Error("a size is none");
    const address = bytes < MOST_BYTES ? this.#exports.wherry_take(Math.max(bytes, 1)) >>> 0 : 0;
    if (!address) throw new WherryError("memory", `There is no memory for this. Got ${this.memory} bytes so far, expected ${bytes} more. Use smaller inputs.`);
    layout?.blocks.push(address);
    return address;
  }

  #text(address) {
    const bytes = new Uint8Array(this.#memory.buffer, address);
    return new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0)));
  }
}

// Bundles are data from elsewhere. What does not fit together is found before a kernel runs: it would read and write anywhere in the
// module's memory (and nowhere else).
function sound(work) {
  try {
    return work();
  } catch (error) {
    if (error instanceof WherryError) throw error;
    throw new WherryError("format", `The bundle is damaged: ${error.message}. Export the model again, or copy its folder as a whole.`, { cause: error });
  }
}

// The value of this number, with so many bytes at least.
function there(layout, id, bytes = 0) {
  const value = layout.values.get(id);
  if (!value || !(value.bytes >= bytes)) throw new Error(`value ${id} is ${value ? "too small" : "not there"}`);
  return value;
}

function within({ dtype, shape, strides, offset }, buffer) {
  const numbers = count(shape);
  if (!(numbers < MOST_BYTES && strides.length === shape.length && shape.length <= MOST_AXES)) throw new Error("a tensor has no shape");
  if (numbers === 0) return;
  let low = 0, high = 0;
  shape.forEach((n, i) => {
    const far = (n - 1) * strides[i];
    if (far < 0) low += far;
    else high += far;
  });
  if (!(offset + low * BYTES[dtype] >= 0 && offset + (high + 1) * BYTES[dtype] <= buffer.bytes)) throw new Error("a tensor is larger than its memory");
}

// Is it in memory as it is stored? "packed": in the order of the kernel that reads it.
function isKept({ encoding }) {
  return encoding === "raw" || encoding === "packed";
}

export function count(shape) {
  return shape.reduce((n, size) => n * size, 1);
}

function up(bytes, unit = ALIGNED) {
  return Math.ceil(bytes / unit) * unit;
}

function contiguous(shape) {
  const strides = new Array(shape.length);
  for (let i = shape.length - 1, step = 1; i >= 0; step *= shape[i--]) strides[i] = step;
  return strides;
}

function shown(shape, sizes) {
  return `[${shape.join(", ")}]${sizes.length && shape.some((n) => typeof n === "string") ? " (a name: any size)" : ""}`;
}

export function shapeOf(nested) {
  return Array.isArray(nested) ? [nested.length, ...shapeOf(nested[0])] : [];
}

// The shape of so many numbers, where one size at most is not known.
function inferred(shape, length, sizes) {
  const open = shape.filter((n) => typeof n === "string");
  if (open.length > 1) return null;
  const others = count(shape.filter((n) => typeof n !== "string"));
  if (!open.length) return others === length ? [...shape] : null;
  return others && Number.isInteger(length / others) ? shape.map((n) => (typeof n === "string" ? length / others : n)) : null;
}

function widened(from, to) {
  const word = new Uint32Array(to.buffer, to.byteOffset, to.length);
  for (let i = 0; i < from.length; i++) {
    const half = from[i], sign = (half & 0x8000) << 16, exponent = (half >> 10) & 31, fraction = half & 0x3ff;
    if (exponent === 31) word[i] = sign | 0x7f800000 | (fraction << 13);
    else if (exponent) word[i] = sign | ((exponent + 112) << 23) | (fraction << 13);
    else to[i] = (sign ? -1 : 1) * fraction * 2 ** -24;
  }
}

// Whole numbers of 8 bits, and after them a factor of each channel: of each place along some axes of the weight.
function scaled(raw, { shape, axes, scales }, to) {
  const values = new Int8Array(raw.buffer, raw.byteOffset, to.length);
  const factors = new Float32Array(raw.slice(scales).buffer);
  const strides = contiguous(shape);
  for (let i = 0; i < to.length; i++) {
    let channel = 0;
    for (const axis of axes) channel = channel * shape[axis] + (Math.floor(i / strides[axis]) % shape[axis]);
    to[i] = values[i] * factors[channel];
  }
}

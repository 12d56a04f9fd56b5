// The shape of what somebody types, where the model leaves sizes open.

// Sizes with as many numbers as were typed, or `current` where there are none: the last open size follows, one before it stays if it can.
//
//   declared  as in model.inputs: a number, or a name where the size is open
//   current   the sizes that the form shows
//   count     how many numbers there are
export function fitted(declared, current, count) {
  const product = (sizes) => sizes.reduce((a, b) => a * b, 1);
  const last = declared.reduce((found, n, i) => (typeof n === "number" ? found : i), -1);
  if (last < 0 || !count || (current.length === declared.length && product(current) === count)) return current;
  const kept = declared.map((n, i) => (typeof n === "number" ? n : current.length === declared.length && current[i] > 0 ? current[i] : 1));
  const lone = declared.map((n) => (typeof n === "number" ? n : 1));
  for (const sizes of [kept, lone]) {
    const others = product(sizes.filter((_, i) => i !== last));
    if (others && count % others === 0) return sizes.map((n, i) => (i === last ? count / others : n));
  }
  return current;
}

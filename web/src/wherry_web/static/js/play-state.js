// What a visitor has chosen, as the address holds it: #data=moons&layers=8,8&activation=Tanh&optimizer=Adam&rate=0.03
export const EDGE = 1.2; // the picture goes from -EDGE to EDGE
export const LIMITS = { layers: 4, neurons: 8, points: 200 };
const PLACES = 100; // own points stand in the address in hundredths

// choices: name -> the values that there are. usual: the state where the address says nothing.
export function stateOf(fragment, choices, usual) {
  const given = new URLSearchParams(fragment);
  const state = { ...usual, layers: [...usual.layers], points: [] };
  for (const [name, known] of Object.entries(choices)) {
    const value = given.get(name);
    if (value === null) continue;
    if (!known.includes(value)) throw wrong(`${name} is ${value.slice(0, 40)}, expected one of ${known.join(", ")}`);
    state[name] = value;
  }
  if (given.has("layers")) {
    state.layers = numbers(given.get("layers"));
    const all = state.layers.every((width) => width >= 1 && width <= LIMITS.neurons);
    if (state.layers.length > LIMITS.layers || !all) throw wrong(`layers is ${given.get("layers").slice(0, 40)}, expected at most ${LIMITS.layers} of 1 to ${LIMITS.neurons} neurons`);
  }
  if (given.has("points")) {
    const flat = numbers(given.get("points"));
    const whole = flat.length % 3 === 0 && flat.length <= 3 * LIMITS.points;
    if (!whole || !flat.every((value, i) => (i % 3 === 2 ? value === 0 || value === 1 : Math.abs(value) <= EDGE * PLACES))) {
      throw wrong(`points are not at most ${LIMITS.points} of x, y and class`);
    }
    for (let i = 0; i < flat.length; i += 3) state.points.push({ x: flat[i] / PLACES, y: flat[i + 1] / PLACES, label: flat[i + 2] });
  }
  return state;
}

export function fragmentOf({ points, layers, ...chosen }) {
  const flat = points.flatMap(({ x, y, label }) => [Math.round(x * PLACES), Math.round(y * PLACES), label]);
  return Object.entries({ ...chosen, layers, ...(points.length ? { points: flat } : {}) }).map(([name, value]) => `${name}=${value}`).join("&");
}

// As the address will have it, so that a link shows the same.
export function rounded(value) {
  return Math.round(Math.min(Math.max(value, -EDGE), EDGE) * PLACES) / PLACES;
}

function numbers(text) {
  if (text === "") return [];
  if (!/^-?\d{1,3}(,-?\d{1,3})*$/.test(text)) throw wrong("it has something else than whole numbers");
  return text.split(",").map(Number);
}

function wrong(why) {
  return new Error(`The link does not hold a network: ${why}. What the page begins with is shown instead.`);
}

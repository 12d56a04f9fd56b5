// The two charts of a training: the loss of each step, and the accuracy on batches and on what was not learned from.
import uPlot from "../vendor/uPlot.esm.js";
import { element } from "./engine.js";

const SMOOTHING = 0.9;

export class Charts {
  #loss;
  #accuracy;
  #history = { steps: [], loss: [], smooth: [], unseen: [], batch: [] };

  // unseen: what the accuracy that counts is measured on.
  constructor(unseen) {
    const width = () => Math.max(240, element("loss-chart").clientWidth);
    const color = (name) => () => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    const ruler = { stroke: color("--line"), width: 1 };
    const lines = { stroke: color("--text"), grid: ruler, ticks: ruler, font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif" };
    const axes = (label, values) => [
      { ...lines, label: "step", labelSize: 20, size: 32 },
      { ...lines, label, labelSize: 20, values, size: 56 },
    ];
    const options = (title, series, scale, label, values) => ({
      title, width: width(), height: 240, legend: { live: false }, cursor: { drag: { x: false } },
      scales: { x: { time: false }, y: scale }, axes: axes(label, values), series: [{}, ...series],
    });
    this.#loss = new uPlot(options("Loss", [
      { label: "each batch", stroke: color("--faint"), width: 1, points: { show: false } },
      { label: "smoothed", stroke: color("--accent"), width: 2, points: { show: false } },
    ], { distr: 3, range: decades }, "cross entropy", (_, ticks) => ticks.map((tick) => (isDecade(tick) ? String(tick) : null))), [[], [], []], element("loss-chart"));
    this.#accuracy = new uPlot(options("Accuracy", [
      { label: "each batch", stroke: color("--faint"), width: 1, points: { show: false } },
      { label: unseen, stroke: color("--accent"), width: 2, spanGaps: true, points: { show: true, size: 4 } },
    ], { range: [0, 1] }, "accuracy", (_, ticks) => ticks.map((tick) => `${Math.round(tick * 100)} %`)),
    [[], [], []], element("accuracy-chart"));
    this.#loss.axes[1].grid.filter = this.#loss.axes[1].ticks.filter = (_, ticks) => ticks.map((tick) => (isDecade(tick) ? tick : null));
    const both = [this.#loss, this.#accuracy];
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => both.forEach((chart) => chart.redraw()));
    addEventListener("resize", () => both.forEach((chart) => chart.setSize({ width: width(), height: 240 })));
  }

  // Steps that were recorded.
  get length() {
    return this.#history.steps.length;
  }

  clear() {
    for (const list of Object.values(this.#history)) list.length = 0;
    this.#draw();
  }

  // What the worker says of a slice of training.
  record({ steps, losses, accuracies, unseen: evaluations = [] }) {
    const { steps: known, loss: all, smooth, unseen, batch } = this.#history;
    losses.forEach((loss, i) => {
      known.push(steps - losses.length + i + 1);
      all.push(loss);
      smooth.push(SMOOTHING * (smooth.at(-1) ?? loss) + (1 - SMOOTHING) * loss);
      unseen.push(null);
      batch.push(accuracies[i]);
    });
    for (const [at, accuracy] of evaluations) unseen[known.indexOf(at)] = accuracy;
    this.#draw();
  }

  // The accuracy on what was not learned from, after so many steps.
  evaluated(steps, accuracy) {
    const at = this.#history.steps.indexOf(steps);
    if (at >= 0) this.#history.unseen[at] = accuracy;
    this.#draw();
  }

  #draw() {
    const { steps, loss, smooth, batch, unseen } = this.#history;
    this.#loss.setData([steps, loss, smooth]);
    this.#accuracy.setData([steps, batch, unseen]);
  }
}

function isDecade(value) {
  return Math.abs(Math.log10(value) - Math.round(Math.log10(value))) < 1e-6;
}

// Whole decades around the values.
function decades(chart, low, high) {
  return [10 ** Math.floor(Math.log10(low || 0.1)), 10 ** Math.ceil(Math.log10(high || 10))];
}

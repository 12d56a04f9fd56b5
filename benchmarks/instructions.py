"""How many instructions kernels take, on arm64 and x86-64: run by qemu, which counts them.

    python benchmarks/instructions.py                the wherry of this Python on x86-64, that of tools/arm64.py on arm64
    python benchmarks/instructions.py "add" "exp"    these rows alone

Where there is no arm64 machine this is what can be measured: one thread, a call after two others of its kind, divided by the values (or products)
that it computes. Beside it stands the plain loop of the same arithmetic in C, which clang -O2 compiles without vectorizing it.
Needed: qemu-user (the one with plug-ins; qemu-user-static has none), gcc, clang 19, lld 19.
"""
from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ARM64 = ROOT / ".cache" / "arm64"
SITE = ROOT / ".cache" / "arm64-site"

# Says at each getppid() how many instructions there have been.
COUNTER = r"""
#include <stdint.h>
#include <stdio.h>
struct qemu_plugin_tb;
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
extern void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *, int, void *, uint64_t);
extern void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t, void (*)(uint64_t, struct qemu_plugin_tb *));
typedef void on_syscall(uint64_t, unsigned, int64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
extern void qemu_plugin_register_vcpu_syscall_cb(uint64_t, on_syscall *);
int qemu_plugin_version = 1;
static uint64_t count;
static void translated(uint64_t id, struct qemu_plugin_tb *block) {
  qemu_plugin_register_vcpu_tb_exec_inline(block, 0, &count, qemu_plugin_tb_n_insns(block));
}
static void called(uint64_t id, unsigned cpu, int64_t number, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g,
                   uint64_t h) {
  if (number == %(getppid)d) fprintf(stderr, "instructions %%llu\n", (unsigned long long)count);
}
int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv) {
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  qemu_plugin_register_vcpu_syscall_cb(id, called);
  return 0;
}
"""

# By row: values that a call computes, the call, and the loop.
N, M, C, H = 400_000, 96, 32, 28
PLAIN = "transpose_x=False, transpose_y=False"
INT8 = f"ops.matmul_int8(ai, bi, None, None, {PLAIN})"
CONV = "ops.conv2d(image, kernel, None, strides=(1, 1), paddings=(0, 0, 0, 0), dilations=(1, 1), groups=1, data_format='NCHW')"
ROWS = {
    "add, float32": (N, "ops.add(x, y)", "for (int i = 0; i < N; ++i) z[i] = x[i] + y[i];"),
    "add, bfloat16": (N, "ops.add(xb, yb)", "for (int i = 0; i < N; ++i) zb[i] = narrow(wide(xb[i]) + wide(yb[i]));"),
    "exp, float32": (N, "ops.exp(x)", "for (int i = 0; i < N; ++i) z[i] = expf(x[i]);"),
    "tanh, float32": (N, "ops.tanh(x)", "for (int i = 0; i < N; ++i) z[i] = tanhf(x[i]);"),
    "sum of all, float32": (N, "x.sum()", "float s = 0; for (int i = 0; i < N; ++i) s += x[i]; z[0] = s;"),
    "softmax, rows of 200": (N, "ops.softmax(rows, axis=1)", """for (int r = 0; r < N; r += 200) {
      float top = x[r], s = 0;
      for (int i = 1; i < 200; ++i) top = x[r + i] > top ? x[r + i] : top;
      for (int i = 0; i < 200; ++i) s += z[r + i] = expf(x[r + i] - top);
      for (int i = 0; i < 200; ++i) z[r + i] /= s;
    }"""),
    "transpose of 2000 x 200": (N, "ops.transpose(rows, perm=(1, 0)).contiguous()",
                               "for (int i = 0; i < 200; ++i) for (int j = 0; j < N / 200; ++j) z[i * (N / 200) + j] = x[j * 200 + i];"),
    "matmul 96, float32, for each product": (M**3, f"ops.matmul(a, b, {PLAIN})", """for (int i = 0; i < M; ++i) for (int j = 0; j < M; ++j) {
      float s = 0;
      for (int k = 0; k < M; ++k) s += x[i * M + k] * y[k * M + j];
      z[i * M + j] = s;
    }"""),
    "matmul 96, bfloat16, for each product": (M**3, f"ops.matmul(ab, bb, {PLAIN})", """for (int i = 0; i < M; ++i) for (int j = 0; j < M; ++j) {
      float s = 0;
      for (int k = 0; k < M; ++k) s += wide(xb[i * M + k]) * wide(yb[k * M + j]);
      zb[i * M + j] = narrow(s);
    }"""),
    "matmul_int8 96, for each product": (M**3, INT8, """for (int i = 0; i < M; ++i) for (int j = 0; j < M; ++j) {
      int s = 0;
      for (int k = 0; k < M; ++k) s += xi[i * M + k] * yi[k * M + j];
      zi[i * M + j] = s;
    }"""),
    "conv2d 3x3, 32 channels, 28x28, for each product": (9 * C * C * (H - 2) ** 2, CONV, """for (int o = 0; o < C; ++o)
      for (int i = 0; i < H - 2; ++i) for (int j = 0; j < H - 2; ++j) {
        float s = 0;
        for (int c = 0; c < C; ++c) for (int p = 0; p < 3; ++p) for (int q = 0; q < 3; ++q)
          s += x[(c * H + i + p) * H + j + q] * y[((o * C + c) * 3 + p) * 3 + q];
        z[(o * (H - 2) + i) * (H - 2) + j] = s;
      }"""),
}

LOOP = r"""
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
enum { N = %(N)d, M = %(M)d, C = %(C)d, H = %(H)d };
float x[N], y[N], z[N];
uint16_t xb[N], yb[N], zb[N];
int8_t xi[N], yi[N];
int32_t zi[N];
static float wide(uint16_t v) { uint32_t w = (uint32_t)v << 16; float f; memcpy(&f, &w, 4); return f; }
static uint16_t narrow(float f) { uint32_t w; memcpy(&w, &f, 4); return f != f ? 0x7fc0 : (w + 0x7fff + (w >> 16 & 1)) >> 16; }
int main(void) {
  for (int i = 0; i < N; ++i) x[i] = (i %% 97) / 97.0f - 0.5f, y[i] = x[i] + 1, xi[i] = i %% 97, yi[i] = i %% 89;
  for (int i = 0; i < N; ++i) xb[i] = narrow(x[i]), yb[i] = narrow(y[i]);
%(loops)s
  return 0;
}
"""
ONE_LOOP = r"""
  for (int repeats = 0; repeats < 4; ++repeats) {
    if (repeats >= 2) getppid();
    %(body)s
    __asm__ volatile("" ::: "memory");
  }
  getppid();
"""

PROGRAM = """
import gc, os
import numpy as np
import wherry_tensor as w
from wherry_tensor import ops
w.set_num_threads(1)
N, M, C, H = {N}, {M}, {C}, {H}
values = (np.arange(N) % 97 / 97 - 0.5).astype("float32")
x, y = w.to_tensor(values), w.to_tensor(values + 1)
xb, yb = x.astype("bfloat16"), y.astype("bfloat16")
rows = w.to_tensor(values.reshape(N // 200, 200))
a, b = w.to_tensor(values[:M * M].reshape(M, M)), w.to_tensor(values[-M * M:].reshape(M, M))
ab, bb = a.astype("bfloat16"), b.astype("bfloat16")
ai, bi = w.to_tensor((np.arange(M * M) % 97).astype("int8").reshape(M, M)), w.to_tensor((np.arange(M * M) % 89).astype("int8").reshape(M, M))
image, kernel = w.to_tensor(values[:C * H * H].reshape(1, C, H, H)), w.to_tensor(values[:9 * C * C].reshape(C, C, 3, 3))
calls = [{calls}]
gc.disable()
for call in calls:
    for repeats in range(4):
        if repeats >= 2: os.getppid()
        call()
    os.getppid()
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", nargs="*", metavar="row", help=f"of {'; '.join(ROWS)}: those that begin so (default: all)")
    arguments = parser.parse_args()
    rows = {name: row for name, row in ROWS.items() if not arguments.rows or name.startswith(tuple(arguments.rows))}
    with tempfile.TemporaryDirectory() as folder:
        columns = counted(Path(folder), list(rows.values()))
    print("| row | arm64 | its plain loop | x86-64, avx2 | its plain loop |\n|---|---|---|---|---|")
    for name, *counts in zip(rows, *columns, strict=True):
        print(f"| {name} | {' | '.join(f'{count / rows[name][0]:.3g}' for count in counts)} |")


def counted(folder: Path, rows: list[tuple[int, str, str]]) -> list[list[int]]:
    """By row, instructions of a call and of the loop: on arm64, then on x86-64."""
    sizes = {"N": N, "M": M, "C": C, "H": H}
    (folder / "loops.c").write_text(LOOP % {**sizes, "loops": "".join(ONE_LOOP % {"body": body} for _, _, body in rows)})
    program = PROGRAM.format(**sizes, calls=", ".join(f"lambda: {call}" for _, call, _ in rows))
    arm = ["--target=aarch64-linux-gnu", f"--sysroot={ARM64}", "-fuse-ld=lld"]
    found = []
    for machine, isa, getppid, options, python, site, more in (
        ("aarch64", "", 173, arm, ARM64 / "usr" / "bin" / "python3.11", [SITE], ["-L", ARM64]),
        ("x86_64", "avx2", 110, ["-march=x86-64-v2"], sys.executable, [path for path in sys.path if path], ["-cpu", "max"]),
    ):
        plugin, loops = folder / f"{machine}.so", folder / f"loops_{machine}"
        (folder / "counter.c").write_text(COUNTER % {"getppid": getppid})
        subprocess.run(["gcc", "-shared", "-fPIC", "-O2", folder / "counter.c", "-o", plugin], check=True)
        plain = ["clang-19", "-O2", "-fno-vectorize", "-fno-slp-vectorize", "-ffp-contract=off"]
        subprocess.run([*plain, *options, folder / "loops.c", "-o", loops, "-lm"], check=True)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, site)), "PYTHONHASHSEED": "0", "WHERRY_CPU_ISA": isa}
        for command in ([python, "-c", program], [loops]):
            found.append(differences([f"qemu-{machine}", "-plugin", plugin, *more, *command], environment, len(rows)))
    return found


def differences(command: list[str | Path], environment: dict[str, str], rows: int) -> list[int]:
    """What the third and the fourth call of each row take, whichever is less."""
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    counts = [int(number) for number in re.findall(r"^instructions (\d+)$", done.stderr, re.MULTILINE)]
    if done.returncode or len(counts) != 3 * rows:
        sys.exit(f"{done.stderr}\ninstructions: {' '.join(map(str, command[:4]))} ... failed")
    return [min(counts[at + 1] - counts[at], counts[at + 2] - counts[at + 1]) for at in range(0, len(counts), 3)]


if __name__ == "__main__":
    main()

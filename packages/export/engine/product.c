// What wherry.js asks a browser before it takes the kernels for relaxed SIMD: has it the product of int8.cc, and is it right? (V8 11.3, where it was
// an experiment, gives wrong sums at times.) It returns -10206753. The text in wherry.js is its module in base64:
//
//   clang-19 --target=wasm32 -Oz -msimd128 -mrelaxed-simd -nostdlib -Wl,--no-entry -Wl,--strip-all -o product.wasm product.c
#include <wasm_simd128.h>

__attribute__((export_name("f"))) int f(int one) {
  const v128_t w = wasm_i8x16_make(127, -127, 5, -60, 1, 2, 3, 4, -5, -6, -7, -8, 100, -100, 90, -127);
  const v128_t v = wasm_i8x16_make(-1, 2, -3, 4, -5, 6, -7, 8, -9, 10, -11, 12, -13, 14, -15, 16);
  const v128_t x = wasm_i32x4_splat(0x7f017f40 * one), y = wasm_i32x4_splat(0x01020304 * one);
  v128_t a = wasm_i32x4_splat(0), b = a, c = a;
  for (int i = 0; i < 3 * one; i++) {
    a = wasm_i32x4_relaxed_dot_i8x16_i7x16_add(w, x, a);
    b = wasm_i32x4_relaxed_dot_i8x16_i7x16_add(v, x, b);
    c = wasm_i32x4_relaxed_dot_i8x16_i7x16_add(w, y, c);
  }
  a = wasm_i32x4_add(wasm_i32x4_add(wasm_i32x4_mul(a, wasm_i32x4_splat(7)), wasm_i32x4_mul(b, wasm_i32x4_splat(3))), c);
  return wasm_i32x4_extract_lane(a, 0) * 31 + wasm_i32x4_extract_lane(a, 1) * 17 + wasm_i32x4_extract_lane(a, 2) * 13 + wasm_i32x4_extract_lane(a, 3);
}

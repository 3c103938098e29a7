// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// exp for arguments at or below zero, and tanh: one way each, the same in every lane of every loop, so that a score has one
// weight wherever it is computed. Coefficients by Sollya's fpminimax in the type itself; the errors stated
// are measured by tests/exp_test.cc on every target.
#if defined(FOVEATE_SRC_KERNELS_EXP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEATE_SRC_KERNELS_EXP_INL_H_
#undef FOVEATE_SRC_KERNELS_EXP_INL_H_
#else
#define FOVEATE_SRC_KERNELS_EXP_INL_H_
#endif

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "hwy/highway.h"
#include "kernels/multiply_add-inl.h"

HWY_BEFORE_NAMESPACE();
namespace foveate::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Horner's rule: c0 + x (c1 + x (c2 + ...)).
template <class D, class V>
HWY_INLINE V Polynomial(D d, V /*x*/, hn::TFromD<D> c) {
  return hn::Set(d, c);
}
template <class D, class V, class... Rest>
HWY_INLINE V Polynomial(D d, V x, hn::TFromD<D> c, Rest... rest) {
  return MultiplyAdd(Polynomial(d, x, rest...), x, hn::Set(d, c));
}

/// The same of four at once, coefficient by coefficient.
template <class D, class V>
HWY_INLINE void PolynomialOfFour(D d, V /*x0*/, V /*x1*/, V /*x2*/, V /*x3*/, V& p0, V& p1, V& p2, V& p3,
                                 hn::TFromD<D> c) {
  p0 = p1 = p2 = p3 = hn::Set(d, c);
}
template <class D, class V, class... Rest>
HWY_INLINE void PolynomialOfFour(D d, V x0, V x1, V x2, V x3, V& p0, V& p1, V& p2, V& p3, hn::TFromD<D> c,
                                 Rest... rest) {
  PolynomialOfFour(d, x0, x1, x2, x3, p0, p1, p2, p3, rest...);
  const V constant = hn::Set(d, c);
  p0 = MultiplyAdd(p0, x0, constant), p1 = MultiplyAdd(p1, x1, constant);
  p2 = MultiplyAdd(p2, x2, constant), p3 = MultiplyAdd(p3, x3, constant);
}

/// What differs by type. exp(x) = 2^n exp(r), n the integer nearest x / ln 2, r = x - n ln 2 in two steps (Cody and Waite:
/// n * ln2_high is exact). `round` brings n + bias into the low bits of the mantissa, where a shift makes it 2^n.
/// `lowest` is where 2^n as the shift makes it is exactly 0: arguments below it, -inf among them, count as it.
template <class T>
struct ExpConstants;

template <>
struct ExpConstants<float> {
  static constexpr float log2e = 0x1.715476p+0f;
  static constexpr float round = 0x1.8p+23f + 127;
  static constexpr int mantissa_bits = 23;
  static constexpr float ln2_high = 0x1.63p-1f, ln2_low = -0x1.bd0106p-13f;
  static constexpr float lowest = -88.0f;
  static constexpr float tanh_small = 0.5f;
};
template <>
struct ExpConstants<double> {
  static constexpr double log2e = 0x1.71547652b82fep+0;
  static constexpr double round = 0x1.8p+52 + 1023;
  static constexpr int mantissa_bits = 52;
  static constexpr double ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33;
  static constexpr double lowest = -709.0;
  static constexpr double tanh_small = 0.5;
};

/// Calls body with the coefficients of exp(r) for |r| <= ln 2 / 2, 1 at 0. Relative error of the polynomial: 0.07 * 2^-24 and
/// 0.05 * 2^-53. One degree less would be 1.6 * 2^-24, and save one of some 145 vector instructions that a score costs at
/// head_dim 64. A body has to be always inlined: for size, as WebAssembly is compiled, it would be called with its vectors in
/// memory, which halves the speed of attention there.
template <class Body>
HWY_INLINE auto WithExpCoefficients(float /*type*/, const Body& body) {
  return body(1.0f, 1.0f, 0x1.fffff8p-2f, 0x1.55548cp-3f, 0x1.555b82p-5f, 0x1.123cf6p-7f, 0x1.686a3cp-10f);
}
template <class Body>
HWY_INLINE auto WithExpCoefficients(double /*type*/, const Body& body) {
  return body(1.0, 1.0, 0x1.000000000000cp-1, 0x1.555555555551bp-3, 0x1.555555554fe6ap-5, 0x1.111111111fa02p-7,
              0x1.6c16c185e873cp-10, 0x1.a01a01558b6fbp-13, 0x1.a019961830c3cp-16, 0x1.71dec6236828ap-19,
              0x1.28b09c30f35e7p-22, 0x1.ae1467f6b1adcp-26);
}

/// x, or `lowest` if x is below it; NaN stays. x86's max gives its second operand where one is NaN, WebAssembly's gives
/// NaN; Highway's for NEON and SVE (maxnm) and its scalar one swallow it.
template <class D, class V>
HWY_INLINE V AtLeast(D d, hn::TFromD<D> lowest, V x) {
#if (HWY_ARCH_X86 || HWY_ARCH_WASM) && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
  return hn::Max(hn::Set(d, lowest), x);
#else
  return hn::IfThenElse(hn::Lt(x, hn::Set(d, lowest)), hn::Set(d, lowest), x);
#endif
}

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
/// 2^(j/16) in bits, less j << 19: so that adding k << 19, with k = 16 n + j, adds n to the exponent and nothing else.
struct alignas(64) Sixteenths {
  uint32_t bits[16];
};
inline constexpr Sixteenths kSixteenths = [] {
  constexpr float powers[16] = {0x1.000000p+0f, 0x1.0b5586p+0f, 0x1.172b84p+0f, 0x1.2387a6p+0f,
                                0x1.306fe0p+0f, 0x1.3dea64p+0f, 0x1.4bfdaep+0f, 0x1.5ab07ep+0f,
                                0x1.6a09e6p+0f, 0x1.7a1148p+0f, 0x1.8ace54p+0f, 0x1.9c4918p+0f,
                                0x1.ae89fap+0f, 0x1.c199bep+0f, 0x1.d5818ep+0f, 0x1.ea4afap+0f};
  Sixteenths all{};
  for (uint32_t j = 0; j < 16; ++j) all.bits[j] = std::bit_cast<uint32_t>(powers[j]) - (j << 19);
  return all;
}();

/// exp of each, step by step, where a table of 16 is one register: exp(x) = 2^(k/16) (1 + p(r)), k the integer nearest
/// 16 x / ln 2, p of degree 3 (0.03 * 2^-24). Seven instructions for the units that multiply, where Exp below has ten. The
/// table's rounding and the last one are within 0.99 ulp together, over all numbers. Results that would not be normal are 0
/// by the mask, whatever k and r have become; NaN passes it, and comes by r.
template <size_t N>
HWY_INLINE void ExpBySixteenths(hn::Vec<hn::ScalableTag<float>> (&x)[N]) {
  const hn::ScalableTag<float> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  using V = hn::Vec<decltype(d)>;
  using C = ExpConstants<float>;
  const V round = hn::Set(d, 0x1.8p+19f), smallest = hn::Set(d, -0x1.5d589ep+6f);
  const V table = hn::BitCast(d, hn::Load(du, kSixteenths.bits));
  V shifted[N], power[N], p[N];
  __mmask16 normal[N];
  for (size_t i = 0; i < N; ++i) normal[i] = _mm512_cmp_ps_mask(x[i].raw, smallest.raw, _CMP_NLT_UQ);
  for (size_t i = 0; i < N; ++i) shifted[i] = MultiplyAdd(x[i], hn::Set(d, C::log2e), round);
  for (size_t i = 0; i < N; ++i) {
    const V n = hn::Sub(shifted[i], round);
    x[i] = NegMultiplyAdd(n, hn::Set(d, C::ln2_high), x[i]);
    x[i] = NegMultiplyAdd(n, hn::Set(d, C::ln2_low), x[i]);
  }
  for (size_t i = 0; i < N; ++i) {
    const auto k = hn::BitCast(du, shifted[i]);
    const V entry = V{_mm512_permutexvar_ps(k.raw, table.raw)};  // by the low four bits
    power[i] = hn::BitCast(d, hn::Add(hn::BitCast(du, entry), hn::ShiftLeft<19>(k)));
  }
  for (size_t i = 0; i < N; ++i) p[i] = MultiplyAdd(x[i], hn::Set(d, 0x1.55561cp-3f), hn::Set(d, 0x1.000222p-1f));
  for (size_t i = 0; i < N; ++i) p[i] = MultiplyAdd(p[i], hn::Mul(x[i], x[i]), x[i]);
  for (size_t i = 0; i < N; ++i) x[i] = V{_mm512_maskz_fmadd_ps(normal[i], p[i].raw, power[i].raw, power[i].raw)};
}
#endif

/// exp(x) for x <= 0 (or NaN, which stays). Exactly 1 at 0, exactly 0 at -inf and below -87.68 (float64: -708.74),
/// within 1 ulp (1.2 without fused multiply-add) down to -87.3 (-708.3), and between them, in the subnormal numbers,
/// within the smallest of these, or 0.
template <class D, class V>
HWY_INLINE V Exp(D d, V x) {
  using C = ExpConstants<hn::TFromD<D>>;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  if constexpr (std::is_same_v<hn::TFromD<D>, float>) {
    if constexpr (hn::MaxLanes(D()) < 16) {
      const hn::Twice<D> twice;
      return hn::LowerHalf(d, Exp(twice, hn::ZeroExtendVector(twice, x)));
    } else {
      V all[1] = {x};
      ExpBySixteenths(all);
      return all[0];
    }
  }
#endif
  const hn::RebindToUnsigned<D> du;
  x = AtLeast(d, C::lowest, x);
  const V shifted = MultiplyAdd(x, hn::Set(d, C::log2e), hn::Set(d, C::round));
  const V n = hn::Sub(shifted, hn::Set(d, C::round));
  V r = NegMultiplyAdd(n, hn::Set(d, C::ln2_high), x);
  r = NegMultiplyAdd(n, hn::Set(d, C::ln2_low), r);
  const V power = hn::BitCast(d, hn::ShiftLeft<C::mantissa_bits>(hn::BitCast(du, shifted)));
  const auto polynomial = [&](auto... c) HWY_ATTR __attribute__((always_inline)) { return Polynomial(d, r, c...); };
  return hn::Mul(WithExpCoefficients(hn::TFromD<D>{}, polynomial), power);
}

/// The same of four at once, step by step. One alone is a chain of thirteen instructions, and compilers put one chain behind
/// the other: then the processor sees too few of them at a time. (Zen 5, AVX-512, cycles a vector with the maximum and the
/// sum: 7.7 one by one, 6.9 so, 4.9 by sixteenths.)
template <class D, class V>
HWY_INLINE void ExpOfFour(D d, V& x0, V& x1, V& x2, V& x3) {
  using C = ExpConstants<hn::TFromD<D>>;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  if constexpr (std::is_same_v<hn::TFromD<D>, float>) {
    V all[4] = {x0, x1, x2, x3};
    ExpBySixteenths(all);
    x0 = all[0], x1 = all[1], x2 = all[2], x3 = all[3];
    return;
  }
#endif
  const hn::RebindToUnsigned<D> du;
  x0 = AtLeast(d, C::lowest, x0), x1 = AtLeast(d, C::lowest, x1);
  x2 = AtLeast(d, C::lowest, x2), x3 = AtLeast(d, C::lowest, x3);
  const V log2e = hn::Set(d, C::log2e), round = hn::Set(d, C::round);
  const V shifted0 = MultiplyAdd(x0, log2e, round), shifted1 = MultiplyAdd(x1, log2e, round);
  const V shifted2 = MultiplyAdd(x2, log2e, round), shifted3 = MultiplyAdd(x3, log2e, round);
  const V n0 = hn::Sub(shifted0, round), n1 = hn::Sub(shifted1, round);
  const V n2 = hn::Sub(shifted2, round), n3 = hn::Sub(shifted3, round);
  const V high = hn::Set(d, C::ln2_high), low = hn::Set(d, C::ln2_low);
  x0 = NegMultiplyAdd(n0, high, x0), x1 = NegMultiplyAdd(n1, high, x1);
  x2 = NegMultiplyAdd(n2, high, x2), x3 = NegMultiplyAdd(n3, high, x3);
  x0 = NegMultiplyAdd(n0, low, x0), x1 = NegMultiplyAdd(n1, low, x1);
  x2 = NegMultiplyAdd(n2, low, x2), x3 = NegMultiplyAdd(n3, low, x3);
  V p0, p1, p2, p3;
  const auto polynomials = [&](auto... c) HWY_ATTR __attribute__((always_inline)) {
    PolynomialOfFour(d, x0, x1, x2, x3, p0, p1, p2, p3, c...);
  };
  WithExpCoefficients(hn::TFromD<D>{}, polynomials);
  const auto power = [&](V shifted)
                         HWY_ATTR { return hn::BitCast(d, hn::ShiftLeft<C::mantissa_bits>(hn::BitCast(du, shifted))); };
  x0 = hn::Mul(p0, power(shifted0)), x1 = hn::Mul(p1, power(shifted1));
  x2 = hn::Mul(p2, power(shifted2)), x3 = hn::Mul(p3, power(shifted3));
}

/// tanh(x) / x - 1 over x^2, for |x| <= tanh_small: relative error 0.26 * 2^-24 and 0.03 * 2^-53 of tanh.
template <class D, class V, hwy::EnableIf<sizeof(hn::TFromD<D>) == 4>* = nullptr>
HWY_INLINE V TanhReduced(D d, V square) {
  return Polynomial(d, square, -0x1.5554d6p-2f, 0x1.10e9f4p-3f, -0x1.b28bb8p-5f, 0x1.1a794p-6f);
}
template <class D, class V, hwy::EnableIf<sizeof(hn::TFromD<D>) == 8>* = nullptr>
HWY_INLINE V TanhReduced(D d, V square) {
  return Polynomial(d, square, -0x1.5555555555537p-2, 0x1.111111110e2cp-3, -0x1.ba1ba1b70b5abp-5, 0x1.664f47b4f0733p-6,
                    -0x1.226e164272a23p-7, 0x1.d6cdfa3fc6283p-9, -0x1.7d4930d150041p-10, 0x1.31d1e3db16755p-11,
                    -0x1.c8d7b35274d9fp-13, 0x1.dc88dc94ebe2p-15);
}

/// tanh(x) within 2.5 ulp: x + x^3 P(x^2) near 0, (1 - e) / (1 + e) with e = exp(-2 |x|) elsewhere. +-1 at +-inf; NaN
/// stays.
template <class D, class V>
HWY_INLINE V Tanh(D d, V x) {
  const V magnitude = hn::Abs(x);
  const V square = hn::Mul(x, x);
  const V near = MultiplyAdd(hn::Mul(x, square), TanhReduced(d, square), x);
  const V e = Exp(d, hn::Mul(magnitude, hn::Set(d, -2)));
  const V one = hn::Set(d, 1);
  const V far = hn::CopySign(hn::Div(hn::Sub(one, e), hn::Add(one, e)), x);
  return hn::IfThenElse(hn::Lt(magnitude, hn::Set(d, ExpConstants<hn::TFromD<D>>::tanh_small)), near, far);
}

}  // namespace HWY_NAMESPACE
}  // namespace foveate::kernels
HWY_AFTER_NAMESPACE();

#endif  // FOVEATE_SRC_KERNELS_EXP_INL_H_

//! Natural logarithm with the bits of Go's `math.Log` on amd64, which kube-scheduler's spread weights
//! are made of. The C library's `log` differs from it in the last bit for about one integer in a hundred.
//!
//! The method and its constants are those of FreeBSD's `e_log.c`: x = 2^k · (1 + f) with 1 + f between
//! √2/2 and √2, then log(1 + f) = f − (f²/2 − s·(f²/2 + R(s²))) with s = f / (2 + f). The order of the
//! operations decides the last bit and is Go's; nothing here may be fused.

const LN2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
const LN2_LOW: f64 = f64::from_bits(0x3dea_39ef_3579_3c76);
const L1: f64 = f64::from_bits(0x3fe5_5555_5555_5593);
const L2: f64 = f64::from_bits(0x3fd9_9999_9997_fa04);
const L3: f64 = f64::from_bits(0x3fd2_4924_9422_9359);
const L4: f64 = f64::from_bits(0x3fcc_71c5_1d8e_78af);
const L5: f64 = f64::from_bits(0x3fc7_4664_96cb_03de);
const L6: f64 = f64::from_bits(0x3fc3_9a09_d078_c69f);
const L7: f64 = f64::from_bits(0x3fc2_f112_df3e_5244);

/// `math.Log(x)` of a Go program on amd64.
pub fn go_log(x: f64) -> f64 {
    if x.is_nan() || x == f64::INFINITY {
        return x;
    }
    if x == 0.0 {
        return f64::NEG_INFINITY;
    }
    if x < 0.0 {
        return f64::NAN;
    }
    let (mut fraction, mut exponent) = split(x);
    if fraction <= std::f64::consts::FRAC_1_SQRT_2 {
        fraction *= 2.0;
        exponent -= 1.0;
    }
    let f = fraction - 1.0;
    let s = f / (2.0 + f);
    let s2 = s * s;
    let s4 = s2 * s2;
    let odd = s2 * (L1 + s4 * (L3 + s4 * (L5 + s4 * L7)));
    let even = s4 * (L2 + s4 * (L4 + s4 * L6));
    let half = 0.5 * f * f;
    let rest = s * (half + (odd + even)) + exponent * LN2_LOW;
    exponent * LN2_HIGH - ((half - rest) - f)
}

/// x as fraction · 2^exponent with a fraction in [0.5, 1). As in Go's assembly a subnormal number is
/// read as if it were normal; no count is one.
fn split(x: f64) -> (f64, f64) {
    const MANTISSA: u64 = (1 << 52) - 1;
    let bits = x.to_bits();
    let fraction = f64::from_bits((bits & MANTISSA) | 0.5f64.to_bits());
    let exponent = ((bits >> 52) & 0x7ff) as i32 - 0x3fe;
    (fraction, f64::from(exponent))
}

#[cfg(test)]
mod tests {
    use super::go_log;

    /// FNV-1a over the little-endian bits of all logarithms.
    fn digest(values: impl Iterator<Item = f64>) -> u64 {
        values
            .flat_map(|x| go_log(x).to_bits().to_le_bytes())
            .fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            })
    }

    /// The digests are those of the same values printed by a program built with Go 1.26 for amd64.
    #[test]
    fn equals_go_bit_for_bit() {
        assert_eq!(digest((1..=65_536).map(f64::from)), 0x3529_501e_9859_9b3c);
        let mut state = 1u64;
        let anywhere = std::iter::repeat_with(|| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            f64::from_bits((state >> 1) & 0x7fef_ffff_ffff_ffff | 0x0010_0000_0000_0000)
        });
        assert_eq!(digest(anywhere.take(65_536)), 0xf735_9cb0_5c31_4251);
    }

    #[test]
    fn differs_from_the_c_library_where_go_does() {
        assert_eq!(go_log(3.0).to_bits(), 0x3ff1_93ea_7aad_030a);
        assert_eq!(go_log(14.0).to_bits(), 0x4005_1cca_16d7_bba8);
        assert_eq!(go_log(5002.0).to_bits(), 0x4021_0901_f6dc_84b9);
        assert_eq!(go_log(1e-310).to_bits(), 0xc086_28ae_3f3c_2ff6);
    }

    #[test]
    fn special_values() {
        assert_eq!(go_log(1.0), 0.0);
        assert_eq!(go_log(0.0), f64::NEG_INFINITY);
        assert_eq!(go_log(f64::INFINITY), f64::INFINITY);
        assert!(go_log(-1.0).is_nan());
        assert!(go_log(f64::NAN).is_nan());
    }
}

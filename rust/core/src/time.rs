//! Timestamps of objects as numbers. The core has no clock; it only compares what objects say.

/// Nanoseconds since 1970 of an RFC 3339 timestamp, `None` if it is not one.
pub fn parse_rfc3339(text: &str) -> Option<i64> {
    let (date, rest) = text.split_once(['T', 't'])?;
    let offset_at = rest.find(['Z', 'z', '+', '-'])?;
    let (clock, zone) = rest.split_at(offset_at);
    let mut ymd = date.splitn(3, '-').map(str::parse::<i64>);
    let (year, month, day) = (ymd.next()?.ok()?, ymd.next()?.ok()?, ymd.next()?.ok()?);
    let mut hms = clock.splitn(3, ':');
    let (hour, minute): (i64, i64) = (hms.next()?.parse().ok()?, hms.next()?.parse().ok()?);
    let (second, fraction) = split_fraction(hms.next()?)?;
    if !(1..=12).contains(&month)
        || !(1..=31).contains(&day)
        || hour > 23
        || minute > 59
        || second > 60
    {
        return None;
    }
    let seconds = days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
    (seconds - offset(zone)?)
        .checked_mul(1_000_000_000)?
        .checked_add(fraction)
}

fn split_fraction(text: &str) -> Option<(i64, i64)> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let nanos = format!("{fraction:0<9}").get(..9)?.parse().ok()?;
    Some((whole.parse().ok()?, nanos))
}

fn offset(zone: &str) -> Option<i64> {
    if zone.eq_ignore_ascii_case("z") {
        return Some(0);
    }
    let (hours, minutes) = zone.get(1..)?.split_once(':')?;
    let seconds = hours.parse::<i64>().ok()? * 3600 + minutes.parse::<i64>().ok()? * 60;
    Some(if zone.starts_with('-') {
        -seconds
    } else {
        seconds
    })
}

/// Days since 1970-01-01 in the proleptic Gregorian calendar, counting years from March so that the
/// leap day is the last of its year.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * month + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::parse_rfc3339;

    #[test]
    fn reads_what_the_api_server_writes() {
        assert_eq!(parse_rfc3339("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(
            parse_rfc3339("2026-01-01T00:00:00Z"),
            Some(1_767_225_600_000_000_000)
        );
        assert_eq!(
            parse_rfc3339("2024-02-29T12:30:45.5+02:00"),
            Some(1_709_202_645_500_000_000)
        );
        assert_eq!(parse_rfc3339("2026-13-01T00:00:00Z"), None);
        assert_eq!(parse_rfc3339("yesterday"), None);
    }
}

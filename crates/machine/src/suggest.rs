//! "Did you mean ...?"

/// A sentence with the known word nearest to `word`, if one is near enough.
pub(crate) fn did_you_mean<'a>(
    word: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    nearest(word, known).map(|best| format!("did you mean `{best}`?"))
}

/// The known word nearest to `word`: at most a third of its letters differ, or
/// `word` is its beginning.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.chars().count() > 100 {
        return None;
    }
    let lower = word.to_lowercase();
    known
        .into_iter()
        .map(|candidate| {
            let known = candidate.to_lowercase();
            let distance = if lower.len() >= 3 && known.starts_with(&lower) {
                1
            } else {
                strsim::osa_distance(&lower, &known)
            };
            (distance, candidate)
        })
        .filter(|(distance, candidate)| *distance <= candidate.chars().count().div_ceil(3))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

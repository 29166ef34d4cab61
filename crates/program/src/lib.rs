//! HE programs: graph, source spans, text form, verifier, and level, scale and noise analysis.

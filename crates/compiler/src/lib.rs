//! Phases 2 and 3: legalization, movement, placement, and lower bounds.

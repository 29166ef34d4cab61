//! Phase 1: HE programs to limb programs, in hint-reuse order.

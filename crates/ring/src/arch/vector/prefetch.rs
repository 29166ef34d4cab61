//! Asking for cache lines before they are needed.
//!
//! Hints only: whatever the address, nothing is read, and nothing faults.

use std::arch::x86_64::{_MM_HINT_ET0, _MM_HINT_T0, _mm_prefetch};

/// Asks for the line that lies `ahead` elements after this one, if there is one.
#[inline(always)]
pub fn for_reading<T>(element: &T, ahead: usize) {
    hint::<_MM_HINT_T0, T>(element, ahead);
}

/// The same for a line that is written next.
#[inline(always)]
pub fn for_writing<T>(element: &T, ahead: usize) {
    hint::<_MM_HINT_ET0, T>(element, ahead);
}

#[inline(always)]
fn hint<const HINT: i32, T>(element: &T, ahead: usize) {
    if cfg!(miri) {
        return;
    }
    let address = std::ptr::from_ref(element).wrapping_add(ahead);
    // SAFETY: every x86-64 processor has the instruction, or ignores it.
    unsafe { _mm_prefetch::<HINT>(address.cast()) }
}

//! Where the words of large limbs live.
//!
//! Limbs come and go by the dozen in every operation. Through the general
//! allocator each of them costs a system call and a page fault per 4 KiB, more
//! than the arithmetic that fills it. So limbs of 64 KiB to 1 MiB are slots of
//! slabs of 8 MiB, which are asked for in huge pages; slots are used again, the
//! lowest address first, and slabs that are entirely free are given back to the
//! system beyond [`SPARE_SLABS`].
//!
//! Slots are 17 cache lines longer than their limb: words of the same index in
//! different limbs, which kernels read together, then lie in different cache
//! sets.
//!
//! Everything else (other sizes, other systems, an interpreter, a sanitizer
//! that watches the ends of allocations) takes the general allocator.

use std::ptr::NonNull;

/// One cache line; its alignment is the words'.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct Line([u64; 8]);

const LINE_BYTES: usize = size_of::<Line>();

/// Cache lines of memory, initialised, 64-byte aligned, owned.
pub struct Lines {
    first: NonNull<Line>,
    count: usize,
    source: Source,
}

/// What the lines go back to.
enum Source {
    General,
    #[cfg(all(target_os = "linux", not(any(miri, sanitized))))]
    Slab(slabs::Class),
}

// SAFETY: the lines are owned, nothing else points to them.
unsafe impl Send for Lines {}
// SAFETY: shared access is read-only.
unsafe impl Sync for Lines {}

impl Lines {
    /// At least `bytes` bytes, all zero.
    pub fn zeroed(bytes: usize) -> Self {
        let mut lines = Self::unspecified(bytes);
        lines.clear();
        lines
    }

    /// At least `bytes` bytes that hold anything: whatever a freed limb left.
    pub fn unspecified(bytes: usize) -> Self {
        let count = bytes.div_ceil(LINE_BYTES);
        #[cfg(all(target_os = "linux", not(any(miri, sanitized))))]
        if let Some((class, first)) = slabs::take(count * LINE_BYTES) {
            return Self {
                first,
                count,
                source: Source::Slab(class),
            };
        }
        let lines = vec![Line([0; 8]); count].into_boxed_slice();
        let first = NonNull::from(Box::leak(lines)).cast();
        Self {
            first,
            count,
            source: Source::General,
        }
    }

    /// The first line; all follow each other.
    pub fn as_ptr(&self) -> *mut Line {
        self.first.as_ptr()
    }

    /// Overwrites all with zeros; the compiler may not leave that out.
    pub fn wipe(&mut self) {
        self.clear();
        // SAFETY: no instructions. To the compiler it may read all memory that
        // the pointer reaches, so the zeros must be there.
        #[cfg(all(not(miri), any(target_arch = "x86_64", target_arch = "aarch64")))]
        unsafe {
            std::arch::asm!("/* {0} */", in(reg) self.first.as_ptr(), options(nostack, preserves_flags));
        }
        #[cfg(not(all(not(miri), any(target_arch = "x86_64", target_arch = "aarch64"))))]
        std::hint::black_box(self.first);
    }

    fn clear(&mut self) {
        // SAFETY: the lines are owned, `count` of them; zero bytes are a valid line.
        unsafe { self.first.as_ptr().write_bytes(0, self.count) }
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        match self.source {
            Source::General => {
                let lines = std::ptr::slice_from_raw_parts_mut(self.first.as_ptr(), self.count);
                // SAFETY: the pointer and length are those of a leaked box, given back once.
                drop(unsafe { Box::from_raw(lines) });
            }
            #[cfg(all(target_os = "linux", not(any(miri, sanitized))))]
            Source::Slab(class) => slabs::give_back(class, self.first),
        }
    }
}

#[cfg(all(target_os = "linux", not(any(miri, sanitized))))]
mod slabs {
    use std::collections::BTreeMap;
    use std::ptr::NonNull;
    use std::sync::{Mutex, PoisonError};

    use super::{LINE_BYTES, Line};

    const SLAB_BYTES: usize = 8 << 20;
    const HUGE_PAGE_BYTES: usize = 2 << 20;
    const PAD_BYTES: usize = 17 * LINE_BYTES;
    const LOG_SLOT_MIN: u32 = 16;
    const LOG_SLOT_MAX: u32 = 20;
    const CLASSES: usize = (LOG_SLOT_MAX - LOG_SLOT_MIN + 1) as usize;

    /// Entirely free slabs that a class keeps.
    const SPARE_SLABS: usize = 32;

    /// Slots of one size: limbs of 2^(16 + class) bytes.
    #[derive(Clone, Copy)]
    pub struct Class(usize);

    impl Class {
        /// The class of limbs of this size, if there is one.
        fn of(bytes: usize) -> Option<Self> {
            let fits = bytes.is_power_of_two()
                && (LOG_SLOT_MIN..=LOG_SLOT_MAX).contains(&bytes.trailing_zeros());
            fits.then(|| Self((bytes.trailing_zeros() - LOG_SLOT_MIN) as usize))
        }

        fn slot_bytes(self) -> usize {
            (1 << (LOG_SLOT_MIN as usize + self.0)) + PAD_BYTES
        }

        /// A bit for every slot of a free slab: at most 125.
        fn all_free(self) -> u128 {
            (1 << (SLAB_BYTES / self.slot_bytes())) - 1
        }
    }

    /// The free slots of each slab, by the slab's address.
    struct Slabs {
        free: BTreeMap<usize, u128>,
        /// Addresses of the slabs that have some.
        partial: std::collections::BTreeSet<usize>,
        spare: usize,
    }

    static SLABS: [Mutex<Slabs>; CLASSES] = [const {
        Mutex::new(Slabs {
            free: BTreeMap::new(),
            partial: std::collections::BTreeSet::new(),
            spare: 0,
        })
    }; CLASSES];

    /// A slot for `bytes` bytes, unless the system has no memory or the size
    /// has no slabs.
    pub fn take(bytes: usize) -> Option<(Class, NonNull<Line>)> {
        let class = Class::of(bytes)?;
        let mut slabs = SLABS[class.0]
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let base = match slabs.partial.first() {
            Some(&base) => base,
            None => {
                let base = map()?;
                slabs.free.insert(base, class.all_free());
                slabs.partial.insert(base);
                slabs.spare += 1;
                base
            }
        };
        let free = slabs.free.get_mut(&base)?;
        let slot = free.trailing_zeros() as usize;
        let was_spare = *free == class.all_free();
        *free &= *free - 1;
        if *free == 0 {
            slabs.partial.remove(&base);
        }
        slabs.spare -= usize::from(was_spare);
        let address = base + slot * class.slot_bytes();
        Some((class, NonNull::new(address as *mut Line)?))
    }

    /// Frees a slot of [`take`].
    pub fn give_back(class: Class, first: NonNull<Line>) {
        let address = first.as_ptr() as usize;
        let mut slabs = SLABS[class.0]
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let Some((&base, free)) = slabs.free.range_mut(..=address).next_back() else {
            return;
        };
        *free |= 1 << ((address - base) / class.slot_bytes());
        let all_free = *free == class.all_free();
        slabs.partial.insert(base);
        if !all_free {
            return;
        }
        if slabs.spare < SPARE_SLABS {
            slabs.spare += 1;
            return;
        }
        slabs.free.remove(&base);
        slabs.partial.remove(&base);
        drop(slabs);
        // SAFETY: the slab was mapped by `map`, no slot of it is in use, and it
        // is in no list any more.
        unsafe { libc::munmap(base as *mut libc::c_void, SLAB_BYTES) };
    }

    /// The address of a new slab: zero bytes, aligned to a huge page.
    fn map() -> Option<usize> {
        let length = SLAB_BYTES + HUGE_PAGE_BYTES;
        // SAFETY: a fresh private mapping at an address that the system chooses.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return None;
        }
        let start = start as usize;
        let base = start.next_multiple_of(HUGE_PAGE_BYTES);
        let (before, after) = (base - start, start + length - base - SLAB_BYTES);
        // SAFETY: all three ranges are parts of the mapping above, whole pages
        // each; what is unmapped is never used. The advice changes no contents.
        unsafe {
            if before > 0 {
                libc::munmap(start as *mut libc::c_void, before);
            }
            if after > 0 {
                libc::munmap((base + SLAB_BYTES) as *mut libc::c_void, after);
            }
            libc::madvise(base as *mut libc::c_void, SLAB_BYTES, libc::MADV_HUGEPAGE);
        }
        Some(base)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn slots_fit_their_slabs() {
            for class in (0..CLASSES).map(Class) {
                let slots = class.all_free().count_ones() as usize;
                assert!(slots * class.slot_bytes() <= SLAB_BYTES && slots >= 7);
                assert_eq!(class.slot_bytes() % LINE_BYTES, 0);
            }
        }

        #[test]
        fn other_sizes_have_no_class() {
            for bytes in [0, 64, 32 << 10, (64 << 10) + 64, 3 << 16, 2 << 20] {
                assert!(Class::of(bytes).is_none(), "{bytes}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Enough buffers for several slabs, freed and taken again in another
    /// order: no two may overlap.
    #[test]
    fn buffers_never_overlap() {
        const BYTES: usize = 1 << 20;
        let fill = |lines: &Lines, tag: u64| {
            for at in 0..lines.count {
                // SAFETY: within the lines, which this test owns.
                unsafe { lines.as_ptr().add(at).write(Line([tag; 8])) };
            }
        };
        let holds = |lines: &Lines, tag: u64| {
            (0..lines.count).all(|at| {
                // SAFETY: within the lines, which this test owns.
                unsafe { (*lines.as_ptr().add(at)).0 == [tag; 8] }
            })
        };
        let mut held: Vec<(u64, Lines)> = (0..20).map(|i| (i, Lines::zeroed(BYTES))).collect();
        for round in 0..3 {
            held.iter().for_each(|(tag, lines)| fill(lines, *tag));
            assert!(held.iter().all(|(tag, lines)| holds(lines, *tag)));
            held.retain(|(tag, _)| tag % 3 != round);
            for tag in 100 * (round + 1)..100 * (round + 1) + 7 {
                let lines = Lines::zeroed(BYTES);
                assert!(holds(&lines, 0), "taken again, but not zero");
                held.push((tag, lines));
            }
        }
    }

    #[test]
    fn threads_share_the_slabs() {
        std::thread::scope(|scope| {
            for tag in 0..4u64 {
                scope.spawn(move || {
                    for _ in 0..50 {
                        let lines = Lines::unspecified(64 << 10);
                        // SAFETY: within the lines, which this thread owns.
                        unsafe { lines.as_ptr().write(Line([tag; 8])) };
                        std::thread::yield_now();
                        // SAFETY: as above.
                        assert_eq!(unsafe { (*lines.as_ptr()).0 }, [tag; 8]);
                    }
                });
            }
        });
    }
}

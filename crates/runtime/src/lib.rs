//! Executes limb programs on CPU threads.

//! Executes schedules cycle by cycle on the values of the limbs.

//! The result does not depend on the order in which values are computed.

use crate::cases::cases;

#[test]
fn one_thread_and_two_give_the_same() {
    for case in cases(200..220) {
        let [one, two] = [1, 2].map(|threads| case.simulate(threads));
        assert!(one.outputs == two.outputs, "{}", case.what);
        assert_eq!(one.cycles, two.cycles, "{}", case.what);
        assert_eq!(one.activity, two.activity, "{}", case.what);
        assert_eq!(one.traffic, two.traffic, "{}", case.what);
    }
}

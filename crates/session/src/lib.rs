//! What a user does: client, evaluator, compile, run, simulate, compare, explain.

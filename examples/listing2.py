"""Listing 2 of the F1 paper, as printed but for the last line, which names the results.

The paper's L = 16 at N = 16384 is 512 bits of modulus, more than the security
table allows, so a run needs a reason:

    cyclotron run examples/listing2.py:p --on f1 --allow-insecure "as F1's Listing 2"
"""

from cyclotron import Add, Mul, Program, Rotate, log2

p = Program(N=16384)
M_rows = [p.Input(L=16) for i in range(4)]
output = [None for i in range(4)]
V = p.Input(L=16)


def innerSum(X):
    for i in range(log2(p.N)):
        X = Add(X, Rotate(X, 1 << i))
    return X


for i in range(4):
    prod = Mul(M_rows[i], V)
    output[i] = innerSum(prod)

p.Output(output)

package randprog

// Complex numbers in random programs: expressions and statements that compute with them and have numbers as results.

// complexParts holds expressions of two variables with bounded derivatives.
var complexParts = []string{
	"real(complex($0, 0.5) * complex(1, $1))*0.25", "imag(cmplx.Exp(complex(-math.Abs($0), $1)))",
	"cmplx.Abs(complex($0, 1 + math.Abs($1)))*0.5", "real(complex($0, 1) / complex(2 + math.Cos($1), $0))",
	"imag(cmplx.Sqrt(complex(2 + math.Cos($0), $1)))*0.5", "cmplx.Phase(complex(2 + math.Cos($0), $1))",
	"imag(cmplx.Conj(complex($0, $1)) * cmplx.Sin(complex(math.Sin($1), 0.5)))*0.25",
	"real(cmplx.Log(complex(2 + math.Sin($0), $1)))", "real(cmplx.Tanh(complex($0, 0.25*math.Sin($1))))",
	"imag(cmplx.Pow(complex(2 + math.Sin($0), 0.5), complex(0.5, math.Sin($1))))*0.25",
	"real(-cmplx.Atan(complex($0, 0.5)) + cmplx.Rect(1, $1)) * 0.5",
}

// complexStmts holds statements that assign to the place of the first operand.
var complexStmts = []string{
	"cw, cv := complex($1, $2), complex(0.5, $2)\nfor range 3 {\n\tcw = cw*0.25 + cv\n" +
		"\tcv *= cmplx.Conj(cv) / complex(4+real(cv)*real(cv), 1)\n}\n$0 = math.Sin(real(cw) + imag(cv))",
	"cs := []complex128{complex($1, 0.5), 1i, complex(1, $2)}\nfor ck := range 2 {\n\tcs[ck+1] -= cs[ck] * 0.5\n" +
		"\tcs[0], cs[ck] = cs[ck]*complex(0, 0.5), cs[0]\n}\n$0 -= math.Sin(imag(cs[0]) - real(cs[2]))",
	"type polar struct {\n\tz complex128\n\tr float64\n}\ncp := &polar{z: complex($1, $2)}\n" +
		"if real(cp.z) > imag(cp.z) {\n\tcp.z = cmplx.Sin(complex(math.Sin(imag(cp.z)), 0.25))\n}\n" +
		"cp.r, _ = cmplx.Polar(cp.z + 3)\n$0 = math.Sin(cp.r)",
}

// complexStmt returns a block with variables of its own.
func (g *generator) complexStmt() *Node {
	return stmt("{\n"+g.oneOf(complexStmts...)+"\n}", g.place(), g.float(1), g.float(1))
}

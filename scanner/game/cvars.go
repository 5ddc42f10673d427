package game

import "slices"

// cvars are the console variables that mean something in every game on the Source
// and the GoldSource engine.
var cvars = []field{
	{name: "sv_password", read: truth(KeyPassword)}, // 0 or 1, not the password (EC-98)
}

// withCvars returns the fields of a game and, behind them, the variables.
func withCvars(fields ...field) []field { return slices.Concat(fields, cvars) }

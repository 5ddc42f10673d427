package game

import "slices"

// cvars are the console variables that Decode reads for every game on the Source or
// GoldSource engine.
var cvars = []field{
	{name: "sv_password", read: truth(KeyPassword)}, // 0 or 1, not the password (EC-98)
}

// withCvars returns fields followed by cvars.
func withCvars(fields ...field) []field { return slices.Concat(fields, cvars) }

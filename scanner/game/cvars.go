package game

import "slices"

// sharedCvars are the variables that servers on the Source and the GoldSource
// engine have in common. Their names are the games' own.
var sharedCvars = []field{
	{name: "sv_password", read: truth(KeyPassword)}, // 0 or 1, not the password (EC-98)
	{name: "coop", read: attribute("coop")},
	{name: "deathmatch", read: attribute("deathmatch")},
	{name: "metamod_version", read: attribute("metamod_version")},
	{name: "mp_fraglimit", read: attribute("mp_fraglimit")},
	{name: "mp_freezetime", read: attribute("mp_freezetime")},
	{name: "mp_friendlyfire", read: attribute("mp_friendlyfire")},
	{name: "mp_maxrounds", read: attribute("mp_maxrounds")},
	{name: "mp_roundtime", read: attribute("mp_roundtime")},
	{name: "mp_startmoney", read: attribute("mp_startmoney")},
	{name: "mp_timelimit", read: attribute("mp_timelimit")},
	{name: "mp_winlimit", read: attribute("mp_winlimit")},
	{name: "sv_alltalk", read: attribute("sv_alltalk")},
	{name: "sv_cheats", read: attribute("sv_cheats")},
	{name: "sv_gravity", read: attribute("sv_gravity")},
}

// sourceCvars are those of the Source engine alone. sv_contact is left out: it is
// mostly somebody's address.
var sourceCvars = []field{
	{name: "mp_autoteambalance", read: attribute("mp_autoteambalance")},
	{name: "nextlevel", read: attribute("next_map")},
	{name: "sm_nextmap", read: attribute("next_map")},
	{name: "sourcemod_version", read: attribute("sourcemod_version")},
	{name: "tv_enable", read: attribute("tv_enable")},
}

// goldSourceCvars are those of the GoldSource engine alone.
var goldSourceCvars = []field{
	{name: "amx_nextmap", read: attribute("next_map")},
	{name: "amx_timeleft", read: attribute("amx_timeleft")},
	{name: "amxmodx_version", read: attribute("amxmodx_version")},
	{name: "mp_c4timer", read: attribute("mp_c4timer")},
	{name: "mp_teamplay", read: attribute("mp_teamplay")},
	{name: "mp_timeleft", read: attribute("mp_timeleft")}, // seconds left on this map
}

// withCvars returns the fields of a game on the Source engine and, behind them, its
// variables.
func withCvars(fields ...field) []field { return slices.Concat(fields, sharedCvars, sourceCvars) }

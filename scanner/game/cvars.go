package game

// sourceCvars are the variables of servers on the Source engine that the games
// share. Their names are the game's own. sv_contact is left out: it is mostly
// somebody's address.
var sourceCvars = []field{
	{name: "sv_password", read: truth(KeyPassword)}, // 0 or 1, not the password (EC-98)
	{name: "coop", read: attribute("coop")},
	{name: "deathmatch", read: attribute("deathmatch")},
	{name: "metamod_version", read: attribute("metamod_version")},
	{name: "mp_autoteambalance", read: attribute("mp_autoteambalance")},
	{name: "mp_fraglimit", read: attribute("mp_fraglimit")},
	{name: "mp_freezetime", read: attribute("mp_freezetime")},
	{name: "mp_friendlyfire", read: attribute("mp_friendlyfire")},
	{name: "mp_maxrounds", read: attribute("mp_maxrounds")},
	{name: "mp_roundtime", read: attribute("mp_roundtime")},
	{name: "mp_startmoney", read: attribute("mp_startmoney")},
	{name: "mp_timelimit", read: attribute("mp_timelimit")},
	{name: "mp_winlimit", read: attribute("mp_winlimit")},
	{name: "nextlevel", read: attribute("next_map")},
	{name: "sm_nextmap", read: attribute("next_map")},
	{name: "sourcemod_version", read: attribute("sourcemod_version")},
	{name: "sv_alltalk", read: attribute("sv_alltalk")},
	{name: "sv_cheats", read: attribute("sv_cheats")},
	{name: "sv_gravity", read: attribute("sv_gravity")},
	{name: "tv_enable", read: attribute("tv_enable")},
}

// withCvars returns the fields of a game and sourceCvars behind them.
func withCvars(fields ...field) []field { return append(fields, sourceCvars...) }

package fleet

// simpleGame is what the servers of one game have in common.
type simpleGame struct {
	app      uint32 // Steam application ID; above 65535 the short ID is 0 (EC-25)
	protocol uint8
	folder   []byte
	name     []byte
	version  []byte
	tags     []byte // keywords that its servers send
	maps     [][]byte
}

func newGame(app uint32, protocol uint8, folder, name, version, tags string, maps ...string) *simpleGame {
	texts := constants(folder, name, version, tags)
	return &simpleGame{app, protocol, texts[0], texts[1], texts[2], texts[3], constants(maps...)}
}

var sourceGames = []*simpleGame{
	newGame(440, 17, "tf", "Team Fortress", "9234167", "cp,increased_maxplayers,nocrits,norespawntime",
		"cp_dustbowl", "pl_badwater", "koth_harvest_final", "ctf_2fort", "mvm_decoy"),
	newGame(240, 17, "cstrike", "Counter-Strike: Source", "9540945", "alltalk,friendlyfire,nobots",
		"de_dust2", "cs_office", "de_inferno", "surf_mesa", "gg_simpsons_vs_flanders"),
	newGame(4000, 17, "garrysmod", "DarkRP", "2024.10.29", " gm:darkrp gmc:rp loc:ru ver:241029",
		"rp_downtown_v4c_v2", "gm_construct", "ttt_minecraft_b5", "gm_bigcity"),
	newGame(252490, 17, "rust", "Rust", "2571", "mp200,cp183,ptrak,qp0,v2571,weekly,vanilla,gmrust",
		"Procedural Map", "Barren", "HapisIsland"),
	newGame(550, 17, "left4dead2", "L4D2 - Co-op - Normal", "2.2.3.6", "coop,secure",
		"c1m1_hotel", "c8m2_subway", "c14m1_junkyard"),
	newGame(320, 7, "hl2mp", "Team Deathmatch", "1.0.0.12", "",
		"dm_lockdown", "dm_overwatch"),
	newGame(393380, 17, "squad", "Squad", "v8.2.1.394022.785", "CULTURE_en,REGION_eu",
		"Narva_RAAS_v1", "Gorodok_AAS_v2"),
	newGame(892970, 17, "valheim", "", "1.0.0.0", "g=0.219.16,n=32,m=", "Nordheim"),
	newGame(346110, 17, "ark_survival_evolved", "ARK: Survival Evolved", "358.24",
		"OWNINGID:90071992547409921,P2PADDR:", "TheIsland", "Ragnarok", ""),
	newGame(1604030, 17, "vrising",
		"7c1b2e9a-55d4-4f0c-9d42-7e52b3c0a1f4", "1.1.10.0", "pvp,eu", "world1"),
	newGame(1002, 252, "RDKFSoccer", "RagDollKungFu: Soccer", "2.3.0.0", "", "Soccer"),
	arma,
}

var arma = newGame(107410, 17, "Arma3", "Capture The Island", "2.18.152405",
	"bt,r218,n152405,s1,i0,mf,lf,vt,dt,tdef,g65545,hd12ce14a,", "Altis", "Stratis", "Tanoa")

var goldSourceGames = []*simpleGame{
	newGame(10, 48, "cstrike", "Counter-Strike", "1.1.2.7/Stdio", "",
		"de_dust2", "de_aztec", "fy_iceworld", "surf_ski", "de_inferno_32"),
	newGame(10, 47, "cstrike", "Counter-Strike", "1.1.2.7\r/Stdio", "",
		"de_train", "cs_assault", "aim_headshot"), // EC-48
	newGame(70, 48, "valve", "Half-Life", "1.1.2.2/Stdio", "", "crossfire", "stalkyard", "bounce"),
	newGame(20, 47, "tfc", "Team Fortress Classic", "1.1.2.2/Stdio", "", "2fort", "well", "dustbowl"),
	newGame(30, 46, "dod", "Day of Defeat", "1.1.2.2/Stdio", "", "dod_anzio", "dod_avalanche"),
	newGame(225840, 48, "svencoop", "Sven Co-op 5.26", "5.0.1.6", "", "stadium4", "osprey"),
}

var shipGames = []*simpleGame{
	newGame(2400, 7, "ship", "The Ship", "1.0.0.4", "", "batavier", "cotopaxi", "huronian"),
	newGame(2412, 7, "ship", "The Ship", "1.0.0.16", "", "krassin", "raduga"),
}

var splitGames = []*simpleGame{
	newGame(500, 7, "left4dead", "L4D - Versus - Normal", "1.0.4.1", "versus,secure",
		"l4d_hospital01_apartment", "l4d_farm05_cornfield"), // EC-110
	newGame(440, 17, "tf", "Team Fortress", "9234167", "cp,sm,mm", "pl_upward", "koth_viaduct"),
	newGame(240, 17, "cstrike", "Counter-Strike: Source", "9540945", "alltalk,sm", "de_nuke", "zm_lila_panic"),
}

var noSizeGames = []*simpleGame{
	newGame(215, 7, "hl2mp", "Deathmatch", "1.0.0.16", "", "dm_runoff"),
	newGame(17550, 7, "eternalsilence", "Eternal Silence", "3.2", "", "gm_khyber"),
	newGame(17700, 7, "insurgency", "Insurgency", "2.4.6", "", "ins_karam", "ins_baghdad"),
	newGame(244630, 17, "neotokyosource", "NEOTOKYO", "9.0", "", "nt_rise_ctg"),
}

var packedGames = []*simpleGame{
	newGame(253530, 17, "fortressforever", "Fortress Forever", "2.46", "", "ff_well", "ff_aardvark"),
	newGame(240, 17, "cstrike", "Counter-Strike: Source", "9540945", "sm", "de_dust2"),
}

// infoOnlyGames also has Counter-Strike 2. Most of its servers do not answer RULES,
// so scanners query them less often (EC-99).
var infoOnlyGames = append([]*simpleGame{
	newGame(730, 17, "csgo", "Counter-Strike 2", "1.40.4.6", "empty,secure,competitive",
		"de_mirage", "de_nuke", "de_anubis"),
}, sourceGames...)

// gamesOf returns the games that servers of a kind play.
func gamesOf(k Kind) []*simpleGame {
	switch k {
	case GoldSource, GoldSourceOld, GoldSourceMod, Both, SplitGoldSource:
		return goldSourceGames
	case InfoOnly:
		return infoOnlyGames
	case Ship:
		return shipGames
	case Split:
		return splitGames
	case SplitNoSize:
		return noSizeGames
	case Packed:
		return packedGames
	}
	return sourceGames
}

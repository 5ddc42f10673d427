package games

import "strings"

// settings adds a rule for each NAME=VALUE|VALUE… in lines. The first value is the
// default, which most servers keep.
func (s *Server) settings(lines string) {
	for line := range strings.FieldsSeq(lines) {
		name, values, _ := strings.Cut(line, "=")
		all := strings.Split(values, "|")
		value := all[0]
		if s.yes(4) {
			value = s.one(all...)
		}
		s.rule(name, value)
	}
}

// steamSession adds the rules with which the Unreal engine finds a session on
// Steam. It returns the said for the name of the owner.
func (s *Server) steamSession(owner, name string, flags int) said {
	s.rule("OWNINGID", owner)
	d := s.rule("OWNINGNAME", name)
	s.rule("P2PADDR", owner)
	s.rule("P2PPORT", 7777)
	s.rule("SESSIONFLAGS", flags)
	return d
}

// sessionOwner returns a random Steam ID for the owner of a session.
func (s *Server) sessionOwner() string {
	return string(s.bytes(90071992547409000 + s.lasting.Below(1<<40)))
}

// remarks are what owners write about their servers.
var remarks = []string{
	"No cheating, no scripting, no exploits.", "Admins are there every evening.", "Please speak English in the global chat.",
	"Raiding is allowed on weekends only.", "Teams of up to four people.", "Ask for the password on our Discord.",
	"Starter kits for everybody.", "Map wipe on the first Thursday of the month.", "Blueprints stay until the forced wipe.",
	"Twice the gather rate, stacks of five.", "Shops, homes and teleports.", "We have been here since 2016.",
	"Bases that nobody visits for a week are removed.", "Donations keep the server up; they buy no advantage.",
	"Events on Saturday at eight.", "Be kind to beginners.", "Racist talk gets you banned.", "Loot is as the game has it.",
	"Solo players are welcome.", "The map is on our page.",
}

// someRemarks returns 1 to n remarks, separated by spaces.
func someRemarks(s *Server, n int) string {
	var text []string
	first := s.lasting.Below(len(remarks))
	for i := range s.lasting.Between(1, n) {
		text = append(text, remarks[(first+i*7)%len(remarks)])
	}
	return strings.Join(text, " ")
}

// conanSettings are rules of Conan Exiles whose names are codes.
const conanSettings = `
	S05_b=true|false S0_b=true S15_b=false|true S18_b=true|false S2_b=false S6_f=0.100000|0.500000 S7_b=true|false
	Sa_b=true|false Sb_f=0.800000|0.500000|1.000000 sc_f=10.000000|5.000000 se_f=0.500000|1.000000 Sf_f=1.000000|3.000000|6.000000
	Sg_f=10.000000|20.000000 Sj_f=1.300000|1.000000 Sk_f=0.250000|0.500000 sl_f=2.000000|6.000000 So_f=1200.000000|900.000000
	Su_i=4|2|0 Sv_f=1.000000|2.000000 Sx_i=12|8|23 Sy_i=0|18`

// Rules of 7 Days to Die from which the scanner reads nothing. They come before,
// between and after the other rules.
const (
	sevenDaysFirst = `AirDropFrequency=72|24|0 AirDropMarker=False|True Architecture64=True BlockDurabilityModifier=100|200
		BuildCreate=False CountryCode=XX|DE|US`
	sevenDaysDrops = `DropOnDeath=0|1|2 DropOnQuit=0|1`
	sevenDaysEnemy = `EnemyDifficulty=0|1 EnemySenseMemory=60 EnemySpawnMode=3|2`
	sevenDaysLand  = `LandClaimDeadZone=30|15 LandClaimDecayMode=2|0 LandClaimExpiryTime=7|3|14 LandClaimOfflineDurabilityModifier=0|4|32
		LandClaimOnlineDurabilityModifier=0|4|32 LandClaimSize=41|21|71`
	sevenDaysLoot = `LootAbundance=100|50|150 LootRespawnDays=7|30|0`
	sevenDaysMax  = `MaxSpawnedAnimals=50|75 MaxSpawnedZombies=64|75|100 Ping=-1 Platform=WindowsPlayer|LinuxPlayer`
)

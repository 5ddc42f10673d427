package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"time"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/sink/census"
	"github.com/a2sscan/a2sscan/wire"
)

// tonight is the start of the sample's last night.
var tonight = time.Date(2026, 11, 20, 3, 0, 0, 0, time.UTC)

// sampleGames have roughly as many servers and people as the real games.
var sampleGames = []struct {
	id, name        string
	servers, people uint64
	maps, versions  []string
}{
	{"cs2", "Counter-Strike 2", 31200, 118400, []string{"de_dust2", "de_mirage", "de_inferno", "de_nuke"}, []string{"1.41.1.2", "1.41.1.1", "1.41.0.9"}},
	{"rust", "Rust", 14800, 96100, []string{"Procedural Map", "Barren", "HapisIsland"}, []string{"2627", "2626", "2619", "2601"}},
	{"garrysmod", "Garry's Mod", 9300, 31800, []string{"gm_construct", "rp_downtown_v4c_v2", "ttt_67thway_v14"}, []string{"2026.10.29", "2026.09.12"}},
	{"tf2", "Team Fortress 2", 7100, 27400, []string{"cp_badlands", "pl_upward", "ctf_2fort"}, []string{"9540945", "9516101"}},
	{"dayz", "DayZ", 6400, 44900, []string{"chernarusplus", "enoch", "sakhal"}, []string{"1.29.162510", "1.28.161464"}},
	{"arma3", "Arma 3", 5900, 12300, []string{"Altis", "Stratis", "Tanoa", "Livonia"}, []string{"2.20.152984", "2.18.152405"}},
	{"app:440900", "Conan Exiles", 4800, 9900, []string{"ConanSandbox", "DLC_Isle_of_Siptah"}, []string{"3.0.6"}},
	{"app:892970", "Valheim", 4100, 6100, []string{"Dedicated"}, []string{"0.221.4"}},
	{"squad", "Squad", 1900, 38200, []string{"Yehorivka_RAAS_v1", "Narva_RAAS_v1"}, []string{"v9.0.1"}},
	{"app:686810", "Hell Let Loose", 1400, 29900, []string{"SME_S_1944_P_0", "Foy"}, []string{"1.1.0.32"}},
}

// sampleStats returns the stats of the night that is ago days before tonight.
func sampleStats(ago int) *census.Stats {
	random := rand.New(rand.NewPCG(7, uint64(ago)))
	at := tonight.AddDate(0, 0, -ago)
	week := 1 + 0.16*math.Cos(2*math.Pi*float64(int(at.Weekday())-6)/7) + 0.03*random.Float64()
	growth := 1 - 0.0006*float64(ago)
	s := &census.Stats{Schema: 1, Scans: []string{at.Format("20060102T150405Z")}, First: &census.Moment{Time: at}}
	s.Games.Distinct = 212 - uint64(ago/9)
	for _, g := range sampleGames {
		scale := growth * (0.98 + 0.04*random.Float64())
		sums := sampleSums(float64(g.servers)*scale, float64(g.people)*scale*week)
		group := census.Group{ID: g.id, Name: g.name, Sums: sums, Unchallenged: sums.Servers / uint64(3+len(g.name))}
		if g.id == "cs2" {
			f := sampleSums(1180, 21500)
			group.Farmed = &f
		}
		s.Games.Top = append(s.Games.Top, group)
		s.All = added(s.All, sums)
		addMaps(s, g.id, g.maps, sums, &s.Maps)
		addVersions(s, g.id, g.versions, sums, ago)
	}
	s.Games.Other = sampleSums(9100*growth, 21000*growth*week)
	s.All = added(s.All, s.Games.Other)
	s.Maps.Distinct, s.Maps.Other = 18400, sampleSums(40000, 90000)
	s.Versions.Distinct, s.Versions.Other = 260, sampleSums(4000, 9000)
	sampleRun(s, ago, random)
	if ago < 2 {
		sampleDetails(s)
	}
	s.Farms.Sums = sampleSums(1180, 21500)
	s.Farms.Found = 14
	s.WithoutFarms = s.All
	s.WithoutFarms.Servers -= s.Farms.Sums.Servers
	s.WithoutFarms.People -= s.Farms.Sums.People
	s.WithoutFarms.Places -= s.Farms.Sums.Places
	s.WithoutFarms.Bots -= s.Farms.Sums.Bots
	return s
}

func sampleSums(servers, people float64) census.Sums {
	n := uint64(servers)
	return census.Sums{Servers: n, Occupied: n * 2 / 5, People: uint64(people), Bots: n * 3 / 4, Places: n * 31}
}

func added(a, b census.Sums) census.Sums {
	return census.Sums{Servers: a.Servers + b.Servers, Occupied: a.Occupied + b.Occupied, People: a.People + b.People,
		Bots: a.Bots + b.Bots, Places: a.Places + b.Places}
}

func addMaps(s *census.Stats, game string, names []string, sums census.Sums, to *census.Groups) {
	for i, name := range names {
		share := 0.5 / float64(uint(1)<<i)
		to.Top = append(to.Top, census.Group{Name: name, Game: game, Sums: sampleSums(float64(sums.Servers)*share, float64(sums.People)*share)})
	}
}

// addVersions adds a game's versions. Each replaces the previous one after 35 days,
// but some servers are never updated.
func addVersions(s *census.Stats, game string, names []string, sums census.Sums, ago int) {
	left := 1.0
	for i, name := range names {
		age := float64(35*i+4*len(game)%31) - float64(ago)
		share := left * (0.92 - 0.05*float64(i)) / (1 + math.Exp(-age/4))
		if i == len(names)-1 {
			share = left
		}
		if share > 0.001 {
			s.Versions.Top = append(s.Versions.Top, census.Group{Name: name, Game: game, Sums: sampleSums(float64(sums.Servers)*share, float64(sums.People)*share)})
		}
		left -= share
	}
}

// sampleRun adds the data of the run. Some nights miss many servers.
func sampleRun(s *census.Stats, ago int, random *rand.Rand) {
	lost, chance, rate := 3+20*random.Float64(), 0.994, 20000.0
	if ago%61 == 40 {
		lost = 2600
	}
	answered := s.All.Servers
	asked := answered + answered/4
	s.Run = &census.Run{
		Summaries: 1, Ended: "complete", Start: s.First.Time, Seconds: 612, Consistent: true,
		Asked: asked, HitRate: float64(answered) / float64(asked), Chance: &chance, Missed: &lost, RateAsked: &rate, RateReached: 19820,
	}
	t, d := &s.Run.Targets, &s.Run.Datagrams
	t.Read, t.Invalid, t.Excluded, t.Duplicate, t.Finished = asked+4210, 12, 1198, 3000, asked
	t.ByStatus = map[string]uint64{
		"ok": answered * 9 / 10, "partial": answered / 11, "error": answered - answered*9/10 - answered/11,
		"no_reply": asked - answered - 900, "unreachable": 900,
	}
	d.Sent, d.Repeats, d.Received = 412_904, 49_110, 398_220
	d.ByClass = map[string]uint64{"matched": 395_000, "duplicate": 2_100, "late": 820, "foreign": 210, "malformed": 90}
	s.Records = answered
}

// sampleDetails adds what is needed only for the night that the page is about.
func sampleDetails(s *census.Stats) {
	share := func(part float64) census.Sums {
		return sampleSums(float64(s.All.Servers)*part, float64(s.All.People)*part)
	}
	s.Systems = census.Groups{Distinct: 3, Top: []census.Group{
		{ID: "linux", Name: "linux", Sums: share(.61)}, {ID: "windows", Name: "windows", Sums: share(.388)}, {ID: "mac", Name: "mac", Sums: share(.002)}}}
	for i, code := range []string{"US", "DE", "RU", "FR", "GB", "CN", "BR", "PL", "NL", "CA", "AU", "SG", "FI", "SE", "JP", "UA", "TR", "HK", "KR", "ZA", "AR", "CZ", "ES", "IT", "IN", "CL", "RE"} {
		s.Countries.Top = append(s.Countries.Top, census.Group{ID: code, Name: code, Sums: share(.29 / math.Pow(float64(i+1), 1.2))})
	}
	s.Countries.Distinct = uint64(len(s.Countries.Top))
	for i, n := range []string{"OVH SAS", "Hetzner Online GmbH", "i3D.net B.V", "Nitrado (marbis GmbH)", "G-Portal (Ociris GmbH)", "Contabo GmbH", "Multiplay", "Amazon.com, Inc.", "Selectel", "DigitalOcean, LLC"} {
		s.Networks.Top = append(s.Networks.Top, census.Group{ID: fmt.Sprintf("AS%d", 64496+i), Name: n, Sums: share(.2 / float64(i+1))})
	}
	s.Networks.Distinct, s.Networks.Other = 2140, share(.4)
	for i, m := range []string{"vanilla", "modded", "Conquest", "RAAS", "warfare", "deathmatch"} {
		s.Modes.Top = append(s.Modes.Top, census.Group{Name: m, Game: []string{"rust", "rust", "arma3", "squad", "app:686810", "cs2"}[i], Sums: share(.08 / float64(i+1))})
	}
	s.Modes.Distinct, s.Modes.Unknown = 61, share(.6)
	s.RoundTrips = sampleDistribution([]float64{0, 5, 10, 15, 20, 30, 40, 50, 60, 80, 100, 125, 150, 200, 250, 300, 400, 500, 750, 1000, 2000, 5000}, 40,
		310, 2100, 4700, 6100, 13900, 12800, 11600, 8200, 10300, 7400, 6900, 4100, 3900, 1700, 900, 610, 240, 180, 60, 21, 3)
	s.Fill = sampleDistribution([]float64{0, 0.000001, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 100.000001}, 4,
		57500, 10900, 7200, 4900, 3700, 2800, 2200, 1800, 1500, 1300, 1100, 900, 43)
	s.Capacity = sampleDistribution([]float64{0, 1, 2, 4, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 65, 80, 100, 128, 200, 256, 500, 1000}, 24,
		12, 80, 700, 900, 1300, 2600, 14200, 6100, 7700, 8900, 21500, 6200, 4900, 7300, 900, 1600, 2300, 4900, 1100, 700, 300, 60, 9)
	s.Questions.Info = census.Question{Answered: 95210, Unchallenged: 2911, Errors: map[string]uint64{"truncated": 12, "malformed": 4}}
	s.Questions.Players = census.Question{Answered: 91003, Unchallenged: 1022, Errors: map[string]uint64{"timeout": 4210, "malformed": 9}}
	s.Questions.Rules = census.Question{Answered: 74118, Unchallenged: 988, Errors: map[string]uint64{"timeout": 20900, "truncated": 150, "challenge_loop": 31}}
	s.Flags = map[string]uint64{"players_over_max": 640, "count_mismatch": 911, "no_gslt": 212, "redirect": 38, "edge_answers": 1804}
	for i := range uint64(14) {
		f := sampleSums(float64(420/(i+1)), float64(9000/(i+1)))
		s.Farms.Top = append(s.Farms.Top, census.Farm{ID: fmt.Sprint(i), Reasons: []string{"clones", "shared_list"}[:1+i%2], Sums: f,
			Addresses: f.Servers, Networks: f.Servers/8 + 1, Game: "cs2", Name: fmt.Sprintf("FREE SKINS #%d | join now", i+1), Map: "de_dust2",
			Evidence: []string{fmt.Sprintf("%d addresses have the same game, name, map and capacity", f.Servers)}, Members: []string{"203.0.113.7:27015", "203.0.113.9:27015"}})
	}
	for i := range 12 {
		s.Stacks = append(s.Stacks, census.Stack{Network: fmt.Sprintf("198.51.100.%d", 7+i), Sums: sampleSums(float64(390-20*i), float64(900-40*i))})
	}
}

// sampleDistribution returns a distribution whose bins begin at edges. weights are
// their numbers of servers, and middle is the median.
func sampleDistribution(edges []float64, middle float64, weights ...uint64) *census.Distribution {
	d := &census.Distribution{P10: middle / 3, P25: middle / 2, P50: middle, P75: middle * 1.7, P90: middle * 2.4, P99: middle * 7, Max: 255, Mean: middle}
	for i, from := range edges {
		b := census.Bin{From: from}
		if i < len(weights) {
			b.Servers = weights[i]
		}
		if i+1 < len(edges) {
			b.To = &edges[i+1]
		}
		d.Bins = append(d.Bins, b)
		d.Servers += b.Servers
	}
	return d
}

// sampleInput returns the input for a page with everything: a history of nights with
// gaps and with doubtful nights, changes, farms, locations and servers.
func sampleInput(nights int) *Input {
	in := &Input{Program: "a2sscan 1.0.0", Files: []string{"census-20261120T030000Z-00001.ndjson.zst"},
		Stats: sampleStats(0), Servers: &Servers{}}
	for ago := nights - 1; ago >= 0; ago-- {
		if ago > 60 && ago < 71 || ago == 12 {
			continue // the machine was down
		}
		in.History.Add(sampleStats(ago))
	}
	in.Before = in.History.before(tonight)
	in.Changes = sampleChanges(in.Stats, in.Before)
	addSingleChanges(in)
	farms := map[netip.AddrPort]string{}
	for i := range 200 {
		farms[sampleServer(i).Addr()] = fmt.Sprint(i / 15) // the last farm has 5 servers
	}
	in.Servers.Farms = farms
	for i := range 300 {
		in.Servers.Add(sampleServer(i))
	}
	return in
}

func sampleChanges(s *census.Stats, before *pastNight) *census.Comparison {
	lost := 9.0
	c := &census.Comparison{
		Old: census.Night{All: before.all}, New: census.Night{All: s.All}, Same: 61000,
		Changes: map[census.Kind]uint64{}, ByGame: map[string]map[census.Kind]uint64{},
		AskedKnown: "unanswered", LikelyLost: &lost, Compared: 84000, MoreMaps: 20110, PeopleMore: 51000, PeopleFewer: 48200,
	}
	for i, kind := range census.Kinds {
		for k, g := range sampleGames {
			if c.ByGame[g.id] == nil {
				c.ByGame[g.id] = map[census.Kind]uint64{}
			}
			n := g.servers / uint64(9+7*i+3*k)
			c.ByGame[g.id][kind.Kind] = n
			c.Changes[kind.Kind] += n
		}
	}
	return c
}

// addSingleChanges adds a change of each kind in each game.
func addSingleChanges(in *Input) {
	for i, kind := range census.Kinds {
		for k, g := range sampleGames {
			in.Important.Add(&census.Change{
				Kind: kind.Kind, Game: g.id, Addr: fmt.Sprintf("203.0.113.%d:%d", 10*k+i, 27015+i), Name: fmt.Sprintf("%s server %d", g.name, i),
				People: uint32(100 * (k + 1) / (i + 1)), LikelyLoss: kind.Kind == "gone" && k == 0,
				Before: &census.Facts{Map: new(g.maps[0]), MaxPlayers: new(uint32(64))}, After: &census.Facts{Map: new(g.maps[1%len(g.maps)])},
			})
		}
	}
}

func serverAt(addr netip.AddrPort) *census.Server {
	return new(census.NewServer(&scanner.Result{Addr: addr, Info: wire.Info{Has: wire.HasMaxPlayers}}))
}

func sampleServer(i int) *census.Server {
	return sampleServerAt(i, netip.AddrPortFrom(netip.AddrFrom4([4]byte{198, 51, 100, byte(i)}), uint16(27015+i/256)))
}

func sampleServerAt(i int, addr netip.AddrPort) *census.Server {
	random := rand.New(rand.NewPCG(11, uint64(i)))
	g := sampleGames[i%len(sampleGames)]
	s := serverAt(addr)
	s.HasInfo, s.Game, s.GameName, s.Name = true, g.id, g.name, fmt.Sprintf("%s community server %d", g.name, i)
	s.Map, s.Version, s.Country = g.maps[i%len(g.maps)], g.versions[0], []string{"DE", "US", "FR", ""}[i%4]
	s.People, s.MaxPlayers = uint32(random.IntN(64))*uint32(random.IntN(2)), 64
	s.RTT = time.Duration(5+random.IntN(200)) * time.Millisecond
	if i%50 == 7 {
		s.Flags = game.FlagCountMismatch
	}
	return s
}

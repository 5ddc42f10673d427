package bench

import "testing"

// BenchmarkThroughput measures the ceiling and the whole scan in alternating runs.
// One op is all of these runs; the metrics are medians.
func BenchmarkThroughput(b *testing.B) {
	for b.Loop() {
		all := rounds(b, clients(*serversFlag))
		for i, s := range all {
			report(b, s, all[0], clients(1)[i].Name())
		}
	}
}

// BenchmarkCeiling measures the variants of the bare loop. The fastest of them,
// Bare, is the ceiling.
func BenchmarkCeiling(b *testing.B) {
	c := Throughput(*serversFlag)
	configs := []Config{c.With(Bare, ""), c.With(BareTwo, ""), c.With(BarePolled, "")}
	for b.Loop() {
		all := rounds(b, configs)
		for i, s := range all {
			report(b, s, all[0], configs[i].Name())
		}
	}
}

// BenchmarkRealistic measures the scan of a list like that of a master server.
func BenchmarkRealistic(b *testing.B) {
	for b.Loop() {
		s := rounds(b, []Config{Realistic(*targetsFlag)})[0]
		b.ReportMetric(s.median(unanswered)*100, "unanswered-%")
		b.ReportMetric(s.median(datagrams), "datagrams/live")
		b.ReportMetric(s.median(seconds), "s/list")
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkSweep measures the sweep of a nearly empty network.
func BenchmarkSweep(b *testing.B) {
	c := sweepOf(b, *halfFlag)
	for b.Loop() {
		all := rounds(b, []Config{c.With(Blast, ""), c})
		b.ReportMetric(all[0].SendRate(), "ceiling-datagrams/s")
		b.ReportMetric(all[1].SendRate(), "datagrams/s")
		b.ReportMetric(all[1].SendRatio(all[0]), "of-ceiling")
		b.ReportMetric(all[1].median(unanswered)*100, "unanswered-%")
		b.ReportMetric(all[1].median(memory), "peak-MB")
	}
	b.ReportMetric(0, "ns/op")
}

func rounds(b *testing.B, configs []Config) []Series {
	all, err := Rounds(*roundsFlag, configs, nil)
	if err != nil {
		b.Fatal(err)
	}
	return all
}

// report reports the metrics of one client.
func report(b *testing.B, s, ceiling Series, name string) {
	b.ReportMetric(float64(s.CPU().Nanoseconds())/1e3, name+"-cpu-µs/server")
	b.ReportMetric(s.Rate(), name+"-servers/s")
	b.ReportMetric(s.CPURatio(ceiling), name+"-cpu-ratio")
	b.ReportMetric(s.RateRatio(ceiling), name+"-rate-ratio")
	b.ReportMetric(s.FleetShare(), name+"-fleet-share")
	b.ReportMetric(0, "ns/op")
}

func unanswered(r *Result) float64 { return 1 - float64(r.Complete)/float64(r.Live) }
func userTime(r *Result) float64   { return float64(r.Usage.User) / float64(r.Config.Targets()) }
func systemTime(r *Result) float64 { return float64(r.Usage.System) / float64(r.Config.Targets()) }
func datagrams(r *Result) float64  { return float64(r.Sent) / float64(r.Live) }
func seconds(r *Result) float64    { return r.Elapsed.Seconds() }
func drops(r *Result) float64      { return float64(r.Drops) }
func paced(r *Result) float64      { return float64(r.Paced.Sent) / r.Paced.Took.Seconds() }
func memory(r *Result) float64     { return float64(r.PeakRSS) / 1e6 }

package export

import "testing"

// BenchmarkExport converts a census to Parquet, from the file to the table. With
// -cpu 1, its rate is that of one core.
func BenchmarkExport(b *testing.B) {
	census := writtenServers(b, "127.64.0.0/17")
	records := countLines(b, census)
	for b.Loop() {
		export(b, Options{Files: []string{census}, Output: "census.parquet"})
	}
	b.ReportMetric(float64(records)*float64(b.N)/b.Elapsed().Seconds(), "records/s")
}

package progress

import (
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/scanner"
)

// TestForecast checks the forecasts of lists and networks with various settings.
func TestForecast(t *testing.T) {
	tests := []struct {
		name           string
		set            func(f *Forecast)
		listed, spread float64
		want           string
	}{
		{"list", func(*Forecast) {}, 1e6, 0,
			"about 4M to 4.67M datagrams, 14 to 16 min at 5k/s, depending on how many answer"},
		{"few", func(*Forecast) {}, 3, 0, "about 12 to 14 datagrams, 3 to 16 s at 5k/s, depending on how many answer"},
		{"info", func(f *Forecast) { f.Questions = scanner.AskInfo }, 1e6, 0,
			"about 2M to 2.67M datagrams, 7 to 9 min at 5k/s, depending on how many answer"},
		{"fast", func(f *Forecast) { f.Rate = 1e5 }, 1e6, 0,
			"about 4M to 4.67M datagrams, 42 to 63 s at 100k/s, depending on how many answer"},
		{"auto", func(f *Forecast) { f.Rate, f.Finds = 1e5, true }, 1e6, 0,
			"about 4M to 4.67M datagrams, 42 s to 16 min at 5k to 100k/s, depending on how many answer"},
		{"no rate", func(f *Forecast) { f.Rate = 0 }, 1e6, 0,
			"about 4M to 4.67M datagrams, as fast as possible, depending on how many answer"},
		{"network", func(*Forecast) {}, 0, 65536,
			"about 197k to 262k datagrams, 46 to 68 s at 5k/s, depending on how many answer"},
		{"network, info", func(f *Forecast) { f.Questions = scanner.AskInfo }, 0, 65536,
			"about 131k to 197k datagrams, 33 to 46 s at 5k/s, depending on how many answer"},
		{"one attempt", func(f *Forecast) { f.Schedule.Attempts = 1 }, 0, 65536,
			"about 65.5k to 262k datagrams, 17 to 58 s at 5k/s, depending on how many answer"},
		{"second pass", func(f *Forecast) { f.Schedule.SecondPass = true }, 0, 65536,
			"about 262k datagrams, 61 to 74 s at 5k/s, depending on how many answer"},
		{"second pass, list", func(f *Forecast) { f.Schedule.SecondPass = true }, 1e6, 0,
			"about 4M to 5M datagrams, 14 to 18 min at 5k/s, depending on how many answer"},
		{"fallback", func(f *Forecast) { f.Fallback = true }, 0, 65536,
			"about 262k to 328k datagrams, 59 to 82 s at 5k/s, depending on how many answer"},
		{"fallback without info", func(f *Forecast) { f.Fallback, f.Questions = true, scanner.AskRules }, 0, 65536,
			"about 131k to 197k datagrams, 33 to 46 s at 5k/s, depending on how many answer"},
		{"ports", func(f *Forecast) { f.Ports = 1000 }, 0, 1000,
			"about 3k to 4k datagrams, 7 min at 5k/s, depending on how many answer"},
		{"ports, no limit", func(f *Forecast) { f.Ports, f.AddressRate = 1000, 0 }, 0, 1000,
			"about 3k to 4k datagrams, 8 to 17 s at 5k/s, depending on how many answer"},
		{"both", func(*Forecast) {}, 1e6, 65536,
			"about 4.2M to 4.93M datagrams, 15 to 17 min at 5k/s, depending on how many answer"},
		{"learned", func(f *Forecast) { f.Schedule.Learns, f.Schedule.Cools = true, true }, 0, 4096,
			"about 12.3k to 16.4k datagrams, 4 to 19 s at 5k/s, depending on how many answer"},
		{"learned, few", func(f *Forecast) { f.Schedule.Learns, f.Schedule.Cools = true, true }, 3, 0,
			"about 12 to 14 datagrams, 3 to 16 s at 5k/s, depending on how many answer"},
		{"for ever", func(f *Forecast) { f.Rate = 0.001 }, 0, 1 << 48,
			"about 844424930M to 1125899907M datagrams, 53376 days at 0/s, depending on how many answer"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := &Forecast{
				Listed: test.listed, InNetworks: test.spread,
				Questions: scanner.AskAll, Rate: scanner.DefaultRate, AddressRate: scanner.DefaultAddressRate,
				Schedule: scanner.Config{Timeout: time.Second, Cooldown: 2 * time.Second}.Schedule(),
			}
			test.set(f)
			if got := f.String(); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

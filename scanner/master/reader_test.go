package master_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/a2sscan/a2sscan/scanner/master"
)

const atAddress = `{"response":{"success":true,"servers":[{"addr":"203.0.113.7:27015","gmsindex":-1,` +
	`"steamid":"5","appid":440,"gamedir":"tf","region":255,"secure":true,"lan":false,"gameport":27015,"specport":0}]}}`

func TestSniff(t *testing.T) {
	tests := []struct {
		name, first string
		want        bool
	}{
		{"another message", "\xFF\xFF\xFF\xFFI\x11", false},
		{"GetServerList", `{"response":{"servers":[{"addr":"1.2.3.4:5","gameport":5}]}}`, true},
		{"GetServerList, spread out", "\xEF\xBB\xBF\r\n{\n\t\"response\": {\n\t\t\"servers\": [\n", true},
		{"an array of servers", `[{"addr":"1.2.3.4:5"}]`, true},
		{"an array, spread out", "[\n  {\n    \"addr\": \"1.2.3.4:5\"", true},
		{"an empty array", "[ ]", true},
		{"another array", `[{"ip":"1.2.3.4","port":5}]`, false},
		{"half an array", "[", false},
		{"IPv6", "[::1]:27015\n", false},
		{"nothing found", `{"response":{}}`, true},
		{"GetServersAtAddress", atAddress, true},
		{"GetServersAtAddress without success", `{"response":{"servers":[{"addr":"1.2.3.4:5","gmsindex":-1`, true},
		{"GetServersAtAddress, refused", `{"response":{"success":false,"message":"no"}}`, true},
		{"a census", `{"schema":1,"scan":"x","ip":"1.2.3.4","port":5,"master":{"appid":1}}`, false},
		{"lines of addresses", `{"addr":"1.2.3.4:5"}`, false},
		{"a server on several lines", "{\n  \"addr\": \"1.2.3.4:5\",\n  \"gameport\": 5\n}\n", false},
		{"a server on two lines", "{\"addr\": \"1.2.3.4:5\", \"gameport\": 5,\n\"name\": \"x\"}\n", false},
		{"an empty object", `{}`, false},
		{"text", "203.0.113.7:27015\n", false},
		{"text with a tag", "# {\"response\"\n", false},
		{"nothing", "", false},
		{"white space", " \n", false},
		{"HTML", "<html>", false},
		{"UTF-16", "\xFF\xFE1\x00", false},
	}
	for _, test := range tests {
		if got := master.IsAnswer([]byte(test.first)); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// read returns the servers of a list, how many entries were bad, and how the reading ended.
func read(in io.Reader) (servers []master.Server, bad []string, err error) {
	err = master.ReadAnswers(in, func(item int, s *master.Server, wrong error) error {
		if wrong != nil {
			bad = append(bad, fmt.Sprint(item, " ", wrong))
			return nil
		}
		servers = append(servers, *s)
		return nil
	})
	return servers, bad, err
}

func addrs(servers []master.Server) string {
	var texts []string
	for i := range servers {
		texts = append(texts, servers[i].Addr.String())
	}
	return strings.Join(texts, " ")
}

// TestReader reads short lists also in small pieces.
func TestReader(t *testing.T) {
	const ab = "203.0.113.7:27015 1.2.3.4:80"
	junk := `,"junk":"` + strings.Repeat("x", 9<<20) + `"}`
	long := `{"ip":"9.9.9.9","port":9,"addr":"9.9.9.9:9"` + junk + "\n"
	tests := []struct {
		name, list string
		want       string
		err        error
		bad        int
	}{
		{"an answer", `{"response":{"servers":[{"addr":"203.0.113.7:27015"},{"addr":"1.2.3.4:80"}]}}`, ab, nil, 0},
		{"two answers", `{"response":{"servers":[{"addr":"203.0.113.7:27015"}]}}` + "\n" + `{"response":{}}{"response":{"servers":[{"addr":"1.2.3.4:80"}]}} `, ab, nil, 0},
		{"other keys", "\xEF\xBB\xBF" + `{"response":{"x":[1,{"servers":2}],"servers":[{"addr":"203.0.113.7:27015","y":{"addr":"9.9.9.9:9"}},{"addr":"1.2.3.4:80"}],"z":{}},"w":[]}`, ab, nil, 0},
		{"nothing found", `{"response":{}}`, "", nil, 0},
		{"no list", `{"response":{"servers":[]}}`, "", nil, 0},
		{"entries that are none", `{"response":{"servers":[{"addr":"203.0.113.7:27015","players":"many"},{},[],5,{"addr":"x"},{"addr":"1.2.3.4"},{"addr":"1.2.3.4:80"}]}}`, ab, nil, 5},
		{"an answer cut off", `{"response":{"servers":[{"addr":"203.0.113.7:27015"},{"addr":"1.2.3.4:80"},{"ad`, ab, master.ErrMalformed, 0},
		{"cut off behind the servers", `{"response":{"servers":[{"addr":"203.0.113.7:27015"},{"addr":"1.2.3.4:80"}]`, ab, master.ErrMalformed, 0},
		{"an answer that is none", `{"response":{"servers":[{"addr":"203.0.113.7:27015"},{"addr":"1.2.3.4:80"},{]}}`, ab, master.ErrMalformed, 0},
		{"servers that are no list", `{"response":{"servers":{"addr":"1.2.3.4:80"}}}`, "", master.ErrMalformed, 0},
		{"no response", `{"response":null}`, "", master.ErrMalformed, 0},
		{"something else behind it", `{"response":{"servers":[{"addr":"203.0.113.7:27015"},{"addr":"1.2.3.4:80"}]}} [1]`, ab, master.ErrMalformed, 0},
		{"too large an entry", `{"response":{"servers":[{"addr":"203.0.113.7:27015"},{"addr":"1.2.3.4:80"},` + strings.TrimSpace(long) + `]}}`, ab, master.ErrTooMuch, 0},

		{"a large answer", `{"response":{"servers":[{"addr":"203.0.113.7:27015"` + junk[:6<<20] + `"},{"addr":"1.2.3.4:80"` + junk[:6<<20] + `"}]}}`, ab, nil, 0},

		{"an array", "[\n {\"addr\":\"203.0.113.7:27015\"},\n {},{\"addr\":\"1.2.3.4:80\"} ]\n", ab, nil, 1},
		{"an empty array", "\xEF\xBB\xBF[]", "", nil, 0},
		{"an array cut off", `[{"addr":"203.0.113.7:27015"},{"addr":"1.2.3.4:80"},`, ab, master.ErrMalformed, 0},
		{"something else behind an array", `[{"addr":"203.0.113.7:27015"},{"addr":"1.2.3.4:80"}]}`, ab, master.ErrMalformed, 0},

		{"at an address", atAddress, "203.0.113.7:27015", nil, 0},
		{"refused", `{"response":{"success":false,"message":"no"}}`, "", master.ErrMalformed, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			readers := []io.Reader{strings.NewReader(test.list)}
			if len(test.list) < 1<<16 {
				readers = append(readers, iotest.OneByteReader(strings.NewReader(test.list)),
					iotest.HalfReader(strings.NewReader(test.list)), iotest.DataErrReader(strings.NewReader(test.list)))
			}
			for _, in := range readers {
				servers, bad, err := read(in)
				if addrs(servers) != test.want || !errors.Is(err, test.err) || test.err == nil && err != nil {
					t.Errorf("%s, %v", addrs(servers), err)
				}
				if len(bad) != test.bad {
					t.Errorf("%q, want %d bad entries", bad, test.bad)
				}
			}
		})
	}
}

// TestReaderErrors checks that Read returns an error of the io.Reader, and that it has
// passed on servers before that error.
func TestReaderErrors(t *testing.T) {
	const list = `{"response":{"servers":[{"addr":"203.0.113.7:27015"}]}}`
	in := io.MultiReader(strings.NewReader(strings.Repeat(list, 4)), iotest.ErrReader(os.ErrPermission))
	servers, _, err := read(in)
	if len(servers) == 0 || !errors.Is(err, os.ErrPermission) {
		t.Errorf("%d servers, %v", len(servers), err)
	}
}

// TestReaderStops checks that an error of the handler ends the reading, and is returned
// unchanged.
func TestReaderStops(t *testing.T) {
	enough := errors.New("enough")
	const list = `{"response":{"servers":[{"addr":"203.0.113.7:27015"},{},{}]}}`
	n := 0
	err := master.ReadAnswers(strings.NewReader(list), func(int, *master.Server, error) error {
		n++
		return enough
	})
	if err != enough || n != 1 {
		t.Errorf("%v after %d", err, n)
	}
}

// TestDetails checks the JSON of a server with every field and a hostile name.
func TestDetails(t *testing.T) {
	const list = `[{"gmsindex":-1,"lan":true,"gametype":"cp","steamid":"18446744073709551615","specport":27020,"gameport":27016,` +
		`"region":-1,"version":"1","secure":true,"os":"l","dedicated":true,"bots":1,"max_players":24,"players":12,"appid":4294967295,` +
		`"product":"tf","gamedir":"tf","map":"cp_dustbowl","name":"a \"b\" \\ \u001b[31m\u202e\u009b\udb40\udc01 中🔥\n","addr":"203.0.113.7:27015"}]`
	const want = `{` +
		`"name":"a \"b\" \\ \u001b[31m\u202e\u009b\udb40\udc01 中🔥\u000a","map":"cp_dustbowl","folder":"tf","product":"tf",` +
		`"app_id":4294967295,"players":12,"max_players":24,"bots":1,"dedicated":true,"os":"l","vac":true,"version":"1","region":-1,` +
		`"game_port":27016,"sourcetv_port":27020,"steam_id":"18446744073709551615","keywords":"cp","lan":true,"gms_index":-1}`
	servers, _, err := read(strings.NewReader(list))
	if err != nil || len(servers) != 1 || string(servers[0].Details) != want {
		t.Errorf("%s, %v, want %s", servers[0].Details, err, want)
	}
}

// FuzzReader checks that Read returns no more servers than fit into the input, and that
// their details are JSON.
func FuzzReader(f *testing.F) {
	f.Add([]byte(`[{"addr":"1.2.3.4:5","appid":440,"name":"\u001b\ud800"}]`))
	f.Add([]byte(atAddress))
	f.Add([]byte(`{"response":{"servers":[{"addr":"1.2.3.4:5","name":"x"},{}]}}{"response":{}}`))
	f.Add([]byte(strings.Repeat("[", 100)))
	f.Fuzz(func(t *testing.T, b []byte) {
		servers, _, _ := read(bytes.NewReader(b))
		if len(servers)*len(`{"addr":"1.1.1.1:1"}`) > len(b) {
			t.Fatalf("%d servers in %d bytes", len(servers), len(b))
		}
		for i := range servers {
			if d := servers[i].Details; d != nil && !json.Valid(d) {
				t.Errorf("%s", d)
			}
		}
	})
}

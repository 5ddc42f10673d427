package master_test

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/a2sscan/a2sscan/scanner/master"
)

// Combine conditions with a filter in text form. A map name must not contain a *.
func ExampleFilter() {
	f := master.Filter{master.App(440), master.Dedicated(), master.NotEmpty(), master.Map("cp_dustbowl")}
	raw, err := master.ParseFilter(`\nor\2\gametype\hidden\white\1`)
	if err != nil {
		fmt.Println(err)
		return
	}
	b, err := append(f, raw...).Append(nil)
	fmt.Println(string(b), err)

	_, err = master.Filter{master.Map(`de_*`)}.Append(nil)
	fmt.Println(err)
	// Output:
	// \appid\440\dedicated\1\empty\1\map\cp_dustbowl\nor\2\gametype\hidden\white\1 <nil>
	// filter "map": the value "de_*" must not hold *, which name_match and version_match alone understand
}

// NewReader detects the kind of a list from its first bytes.
func ExampleReader() {
	pages := master.AppendPage(nil, []netip.AddrPort{netip.MustParseAddrPort("203.0.113.7:27015")}, true)
	lists := []string{
		string(pages),
		`{"response":{"servers":[{"addr":"203.0.113.8:27015","name":"A server","players":12}]}}`,
		`{"addr":"169.254.1.2:27015","appid":440}`,
	}
	for _, list := range lists {
		r, err := master.NewReader(strings.NewReader(list))
		if err != nil {
			fmt.Println(err)
			return
		}
		for r.Next() {
			s := r.Server()
			fmt.Printf("%v: %q\n", r.Kind(), s.Unscannable().String())
			fmt.Print(string(s.AppendLine(nil)))
		}
		if r.Err() != nil {
			fmt.Println(r.Err())
		}
	}
	// Output:
	// reply pages of a master server: ""
	// {"schema":1,"ip":"203.0.113.7","port":27015}
	// Web API JSON (GetServerList): ""
	// {"schema":1,"ip":"203.0.113.8","port":27015,"master":{"name":"A server","players":12}}
	// NDJSON: "169.254.0.0/16, an address of Steam's relays"
	// {"schema":1,"ip":"169.254.1.2","port":27015,"master":{"app_id":440}}
}

func ExamplePage() {
	datagram := []byte("\xFF\xFF\xFF\xFF\x66\x0A" + "\xCB\x00\x71\x07\x69\x87" + "\x00\x00\x00\x00\x00\x00")
	var p master.Page
	if err := p.Reset(datagram); err != nil {
		fmt.Println(err)
		return
	}
	for p.Next() {
		fmt.Println(p.Addr())
	}
	fmt.Println("end:", p.End(), p.Err())
	// Output:
	// 203.0.113.7:27015
	// end: true <nil>
}

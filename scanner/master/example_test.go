package master_test

import (
	"fmt"
	"strings"

	"github.com/a2sscan/a2sscan/scanner/master"
)

// A Kind recognises a list by its first bytes, and reads it.
func ExampleKind() {
	const list = `{"response":{"servers":[{"addr":"203.0.113.8:27015","name":"A server","players":12},{"name":"?"}]}}`
	for _, kind := range master.Kinds {
		if !kind.Sniff([]byte(list)) {
			continue
		}
		err := kind.Read(strings.NewReader(list), func(item int, s *master.Server, bad error) error {
			if bad != nil {
				fmt.Println(item, bad)
				return nil
			}
			fmt.Print(string(s.AppendLine(nil)))
			return nil
		})
		fmt.Println(kind.Name, err)
		break
	}
	// Output:
	// {"schema":1,"ip":"203.0.113.8","port":27015,"master":{"name":"A server","players":12}}
	// 2 has no address
	// Web API JSON (GetServerList) <nil>
}

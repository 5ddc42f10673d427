package list_test

import (
	"fmt"
	"strings"

	"github.com/a2sscan/a2sscan/scanner/list"
)

func Example() {
	input := strings.NewReader(`# two servers and two mistakes
8.8.8.8:27015 first
8.8.4.4
8.8.4.4:27015
8.8.4.4:70000
10.0.0.1:27015
`)
	l, err := list.Open(list.Config{
		Stdin: input, InOrder: true,
		Invalid: func(line list.Invalid) {
			fmt.Printf("%s:%d: %v: %s\n", line.File, line.Line, line.Err, line.Text)
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for t := range l.From(0) {
		fmt.Printf("%v %q\n", t.Addr, t.Tag)
	}
	fmt.Printf("%+v\n", l.Stats())
	// Output:
	// 8.8.8.8:27015 "first"
	// 8.8.4.4:27015 ""
	// standard input:5: the port is not a number from 1 to 65535: 8.8.4.4:70000
	// {Read:5 Invalid:1 Unscannable:0 Excluded:1 Duplicate:1 OtherShard:0 Given:2 NoPort:0 BadPort:1 DefaultPort:1}
}

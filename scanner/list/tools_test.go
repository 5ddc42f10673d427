package list

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// The lists that other programs write, as docs/FORMATS.md, section 5, has them, and what they yield.
var toolLists = []struct {
	name, format, text string
	want               string // targets, separated by '|'
	invalid            string // line, fault and text of each, separated by '|'
	skipped, ipv6      uint64
	note               string
}{
	{name: "Xash3D", format: "Xash3D list",
		text: "# valve server list\nip 192.0.2.10:27015\nip [2001:db8::1]:27015\ngs 198.51.100.5:27015\n",
		want: "192.0.2.10:27015|198.51.100.5:27015", ipv6: 1},
	{name: "Xash3D, a byte order mark after an empty line", format: "Xash3D list",
		text: "\n\ufeffip 192.0.2.10:27015\n", want: "192.0.2.10:27015"},
	{name: "Xash3D, other lines", format: "Xash3D list",
		text: "// list\n\ngs 198.51.100.5 later words\nnat 192.0.2.1:27015\nip nowhere:1\nip 192.0.2.10:27016\n",
		want: "198.51.100.5:27015|192.0.2.10:27016", invalid: "5 not an IPv4 address: nowhere:1"},
	{name: "xash3d-query, a list", format: "NDJSON",
		text: `{"masters":["mentality.rip:27010"],"filter":"\\gamedir\\valve","servers":["192.0.2.10:27015","[2001:db8::1]:27015"]}` + "\n",
		want: "192.0.2.10:27015", ipv6: 1},
	{name: "xash3d-query, a query", format: "NDJSON",
		text: `{"servers":[{"time":1700000000,"address":"192.0.2.10:27015","status":"ok"},{"address":"a.example:27016","resolved":"192.0.2.11:27016","status":"timeout"}]}`,
		want: "192.0.2.10:27015|192.0.2.11:27016"},
	{name: "ZMap", format: "CSV",
		text: "saddr,sport,classification,success\n192.0.2.10,27015,udp,1\n192.0.2.11,,icmp,0\n192.0.2.12,27016,udp,0\n",
		want: "192.0.2.10:27015", skipped: 2},
	{name: "ZMap without names", format: "CSV", text: "192.0.2.10,27015,udp,1\n192.0.2.11,27016,udp,1\n",
		want: "192.0.2.10:27015|192.0.2.11:27016"},
	{name: "ZMap, data", format: "CSV", text: "data,success,sport,saddr\n\"a,b\",1,27016,192.0.2.10\n", want: "192.0.2.10:27016"},
	{name: "ZMap, one column", format: "text", text: "192.0.2.10\n192.0.2.11\n", want: "192.0.2.10:27015|192.0.2.11:27015"},
	{name: "ZMap, JSON", format: "NDJSON", text: `{"saddr":"192.0.2.10","sport":27016,"classification":"udp","success":1}` + "\n" +
		`{"saddr":"192.0.2.11","sport":null,"classification":"icmp","success":0}` + "\n",
		want: "192.0.2.10:27016", skipped: 1},
	{name: "masscan -oL", format: "masscan list", text: "#masscan\nopen udp 27015 192.0.2.10 1700000000\n# end\n", want: "192.0.2.10:27015"},
	{name: "masscan -oL, other rows", format: "masscan list",
		text: "open tcp 80 192.0.2.9 1700000000\nopen udp 27016 192.0.2.10 1700000000\nbanner udp 27016 192.0.2.10 1700000000 a2s name\n" +
			"closed udp 27017 192.0.2.10 1700000000\nopen udp 27015 2001:db8::1 1700000000\nopen udp\n",
		want: "192.0.2.10:27016", skipped: 2, ipv6: 1, invalid: "6 not an IPv4 address: open udp"},
	{name: "masscan -oJ", format: "masscan JSON",
		text: "[\n{   \"ip\": \"192.0.2.10\",   \"timestamp\": \"1700000000\", \"ports\": [ {\"port\": 27015, \"proto\": \"udp\", \"status\": \"open\", \"reason\": \"…\", \"ttl\": 52} ] }\n]\n",
		want: "192.0.2.10:27015"},
	{name: "masscan -oJ, more", format: "masscan JSON",
		text: "[\n{ \"ip\": \"192.0.2.10\", \"ports\": [ {\"port\": 27015, \"proto\": \"udp\", \"status\": \"open\"} ] }\n,\n" +
			"{ \"ip\": \"192.0.2.10\", \"ports\": [ {\"port\": 80, \"proto\": \"tcp\", \"status\": \"open\"}, {\"port\": 27016, \"proto\": \"udp\", \"status\": \"open\"} ] },\n{finished: 1}\n]\n",
		want: "192.0.2.10:27015|192.0.2.10:27016", skipped: 1},
	{name: "Shodan", format: "NDJSON", text: `{"ip": 3221225994, "ip_str": "192.0.2.10", "port": 27015, "transport": "udp", "data": "…"}` + "\n" +
		`{"ip": 3221225995, "ip_str": "192.0.2.11", "port": 80, "transport": "tcp", "data": "…"}` + "\n",
		want: "192.0.2.10:27015", skipped: 1},
	{name: "Shodan, a host", format: "NDJSON", text: `{"ip_str":"192.0.2.10","ports":[80,27015],"data":[{"ip_str":"192.0.2.10","port":80,"transport":"tcp"},{"ip_str":"192.0.2.10","port":27015,"transport":"udp"}]}`,
		want: "192.0.2.10:27015", skipped: 1},
	{name: "nmap -oG", format: "nmap -oG", text: "# Nmap 7.95 scan initiated …\nHost: 192.0.2.10 (name.example)\tPorts: 27015/open/udp//halflife///, 27016/open|filtered/udp/////\n",
		want: "192.0.2.10:27015|192.0.2.10:27016"},
	{name: "nmap -oG, more", format: "nmap -oG", text: "# Nmap 7.95 scan initiated …\nHost: 192.0.2.10 ()\tStatus: Up\n" +
		"Host: 192.0.2.10 ()\tPorts: 80/open/tcp//http//a, b///, 27015/closed/udp/////, 27016/open/udp/////\tIgnored State: closed (998)\n# Nmap done\nnonsense\n",
		want: "192.0.2.10:27016", skipped: 2, invalid: "5 not an IPv4 address: nonsense"},
	{name: "naabu", format: "NDJSON", text: `{"host":"name.example","ip":"192.0.2.10","port":27015,"protocol":"udp","tls":false}` + "\n" +
		`{"ip":"192.0.2.11","port":27016}` + "\n" + `{"ip":"192.0.2.11","port":443,"protocol":"tcp","tls":true}` + "\n",
		want: "192.0.2.10:27015|192.0.2.11:27016", skipped: 1},
	{name: "httpx", format: "httpx JSON", text: `{"url":"http://192.0.2.10:27015","input":"192.0.2.10","host":"192.0.2.10","port":"27015"}` + "\n" +
		`{"url":"https://a.example:8443","input":"a.example","host":"a.example","host_ip":"192.0.2.11","port":"8443"}` + "\n" +
		`{"url":"https://b.example:8443","input":"b.example","host":"b.example","a":["192.0.2.12"],"port":"8443"}` + "\n",
		want: "192.0.2.10:27015|192.0.2.11:27015|192.0.2.12:27015",
		note: "standard input: the ports in this list belong to web servers, so only the hosts are queried, at the ports from --port, or at port 27015"},

	// A column that looks like a port is never ignored silently.
	{name: "another column", format: "CSV", text: "ip,dport\n192.0.2.10,27020\n", invalid: "2 " + string(faultPortColumn) + ": 192.0.2.10"},
	{name: "a number further on", format: "CSV", text: "a,192.0.2.10,udp,27020\nb,192.0.2.11,udp,1\n", want: "192.0.2.11:27015",
		invalid: "1 " + string(faultPortColumn) + ": 192.0.2.10"},
	{name: "another key", format: "NDJSON", text: `{"ip":"192.0.2.10","dst_port":27020}`, invalid: "1 " + string(faultPortColumn) + ": 192.0.2.10"},
	{name: "words", format: "text", text: "192.0.2.10 27020 udp\n192.0.2.11;27020;udp\n", invalid: "1 " + string(faultStrayPort) + ": 192.0.2.10 27020 udp|2 " + string(faultStrayPort) + ": 192.0.2.11;27020;udp"},

	// A quote without an end costs only its line, and other JSON says what to do.
	{name: "an open quote", format: "CSV", text: "name,ip,port\n\"a,192.0.2.10,5\nb \"c\" d,192.0.2.11,6\n\"e\",192.0.2.12,7\n",
		want: "192.0.2.11:6 b \"c\" d|192.0.2.12:7 e", invalid: "2 a quoted field has no closing quote on its line: \"a,192.0.2.10,5"},
	{name: "an array", format: "JSON", text: `[{"ip":"192.0.2.10","port":5}]`, invalid: "1 " + string(faultArray) + ": ["},
	{name: "an array of several lines", format: "JSON", text: "[\n  {\n    \"ip\": \"192.0.2.10\" } ]\n", invalid: "1 " + string(faultArray) + ": ["},
	{name: "an object of several lines", format: "JSON", text: "{\n  \"ip\": \"192.0.2.10\"\n}\n", invalid: "1 " + string(faultArray) + ": ["},
	{name: "NaN", format: "NDJSON", text: `{"ip":"192.0.2.10","port":5,"x":NaN}` + "\n" + `{"ip":"192.0.2.11","port":5}` + "\n",
		want: "192.0.2.11:5", invalid: "1 " + string(faultJSON) + `: {"ip":"192.0.2.10","port":5,"x":NaN}`},
	{name: "byte order marks", format: "NDJSON", text: "\xef\xbb\xbf{\"ip\":\"192.0.2.10\",\"port\":5}\n\xef\xbb\xbf{\"ip\":\"192.0.2.11\",\"port\":5}\n",
		want: "192.0.2.10:5|192.0.2.11:5"},
	{name: "comments", format: "text", text: "// ip;port\n192.0.2.10:5\n // 192.0.2.11:5\n", want: "192.0.2.10:5"},
	{name: "comments before columns", format: "CSV", text: "// list\nname,ip\n//a,192.0.2.10\n", want: "192.0.2.10:27015 //a"},
	{name: "comments before JSON", format: "NDJSON", text: "// list\n{\"ip\":\"192.0.2.10\",\"port\":5}\n", want: "192.0.2.10:5"},
	{name: "a comment with semicolons", format: "text", text: "# a; ip\n192.0.2.10:5 # host; ip\n192.0.2.11:6 # a; b\n",
		want: "192.0.2.10:5 # host; ip|192.0.2.11:6 # a; b"},
	{name: "a comment with commas", format: "text", text: "192.0.2.10:5 # a,host\n192.0.2.11:6\n", want: "192.0.2.10:5 # a,host|192.0.2.11:6"},
	// The query port beats the port at which players join.
	{name: "two ports", format: "NDJSON", text: `{"ip":"192.0.2.10","port":2302,"queryPort":27016}` + "\n" +
		`{"IP":"192.0.2.11","Port":"2302","Query-Port":"27016"}` + "\n" + `{"address":"192.0.2.12:2302","QUERY_PORT":27016}` + "\n" +
		`{"Address":"192.0.2.13","gamePort":2302,"qport":27016.0}` + "\n" + `{"ip":"192.0.2.14","steam_query_port":27016,"rcon_port":5}` + "\n" +
		`{"ip":"192.0.2.15","port":27016,"game_port":2302,"queryPort":0,"queryport":null}` + "\n",
		want: "192.0.2.10:27016|192.0.2.11:27016|192.0.2.12:27016|192.0.2.13:27016|192.0.2.14:27016|192.0.2.15:27016"},
	{name: "two columns", format: "CSV", text: "Host,QueryPort,Name\n192.0.2.10,27016,a b\n192.0.2.11,27017.0,\n", want: "192.0.2.10:27016 a b|192.0.2.11:27017"},
	{name: "two columns and a tag", format: "TSV", text: "name\tip\tport\tquery port\ttag\nx\t192.0.2.10\t2302\t27016\teu\n", want: "192.0.2.10:27016 eu"},
	{name: "BattleMetrics", format: "NDJSON", text: `{"data":[{"type":"server","id":"1","attributes":{"ip":"192.0.2.10","port":2302,"portQuery":27016}}],"links":{}}` + "\n" +
		`{"type":"server","attributes":{"ip":"192.0.2.11","port":2302,"portQuery":27016},"relationships":{}}` + "\n" + `{"ip":"192.0.2.12","port":2302,"portQuery":27016}` + "\n",
		want: "192.0.2.10:27016|192.0.2.11:27016|192.0.2.12:27016"},
	{name: "DZSA", format: "NDJSON", text: `{"endpoint":{"ip":"192.0.2.10","port":27016},"gamePort":2302,"name":"x"}` + "\n" +
		`{"status":0,"result":[{"endpoint":{"ip":"192.0.2.11","port":27016},"gamePort":2302}]}` + "\n", want: "192.0.2.10:27016|192.0.2.11:27016"},
	{name: "Censys", format: "NDJSON", text: `{"ip":"192.0.2.10","services":[{"port":28015,"transport_protocol":"UDP"},{"port":80,"transport_protocol":"TCP"}]}` + "\n",
		want: "192.0.2.10:28015", skipped: 1},
	{name: "masscan -oD", format: "NDJSON", text: `{"ip":"192.0.2.10","timestamp":"1","port":27017,"proto":"udp","rec_type":"status","data":{"status":"open","reason":"x"}}` + "\n" +
		`{"ip":"192.0.2.10","port":27017,"proto":"udp","rec_type":"banner","data":{"service_name":"a2s"}}` + "\n" +
		`{"ip":"192.0.2.11","port":27017,"proto":"udp","rec_type":"status","data":{"status":"closed"}}` + "\n", want: "192.0.2.10:27017", skipped: 2},
	{name: "RustScan", format: "RustScan list", text: "192.0.2.10 -> [27015,27016]\n192.0.2.11 -> [27017]\nnone\n",
		want: "192.0.2.10:27015|192.0.2.10:27016|192.0.2.11:27017", invalid: "3 not an IPv4 address: none"},
	{name: "gamedig", format: "NDJSON", text: `{"name":"x","connect":"192.0.2.10:2302","ping":5,"queryPort":27016,"raw":{"port":2302}}` + "\n", want: "192.0.2.10:27016"},
	{name: "Steam", format: "NDJSON", text: `{"steamid":"1","addr":"192.0.2.10:27016","gameport":2302,"specport":2303}` + "\n", want: "192.0.2.10:27016"},
	{name: "pterodactyl", format: "NDJSON", text: `{"object":"list","data":[{"object":"allocation","attributes":{"id":1,"ip":"192.0.2.10","port":27016,"assigned":true}}]}` + "\n", want: "192.0.2.10:27016"},
	{name: "ZMap and its own port", format: "CSV", text: "saddr,sport,dport,classification\n192.0.2.10,27016,40000,udp\n", want: "192.0.2.10:27016"},
	{name: "ports as text", format: "CSV", text: "ip,ports\n192.0.2.10,27015\n192.0.2.11,\"27015,27016\"\n", want: "192.0.2.10:27015|192.0.2.11:27015|192.0.2.11:27016"},
	{name: "port null", format: "NDJSON", text: `{"host":"a.example","ip":"192.0.2.10","port":null}` + "\n" + `{"ip":"192.0.2.11","port":27016}` + "\n",
		want: "192.0.2.10:27015|192.0.2.11:27016", note: "standard input: rows without a port: 1; such hosts are queried at the ports from --port, or at port 27015"},
	{name: "not ports", format: "NDJSON", text: `{"ip":"192.0.2.10","transport":"udp","report":5,"supportId":27016,"passport":7,"airport":27017}` + "\n", want: "192.0.2.10:27015"},
	{name: "a network with a port", format: "CSV", text: "ip,port\n192.0.2.10/31,5\n", want: "192.0.2.10:5|192.0.2.11:5"},

	// A port that is not understood is never ignored silently.
	{name: "only the port of players", format: "NDJSON", text: `{"ip":"192.0.2.10","gamePort":2302}` + "\n" + `{"ip":"192.0.2.11","SteamPort":"27016"}` + "\n" +
		`{"ip":"192.0.2.12","open_ports":[27016]}` + "\n" + `{"ip":"192.0.2.13","sport":27016,"dport":5}` + "\n" + `{"ip":"192.0.2.14","ports":[{"number":27016}]}` + "\n",
		invalid: "1 " + string(faultPortColumn) + ": 192.0.2.10|2 " + string(faultPortColumn) + ": 192.0.2.11|3 " + string(faultNested) + ": jq -c 'del(.open_ports[]) + ({port: .open_ports[]} // {})': 192.0.2.12|4 " +
			string(faultPortColumn) + ": 192.0.2.13|5 " + string(faultPortColumn) + ": 192.0.2.14"},
	{name: "another port besides", format: "NDJSON", text: `{"ip":"192.0.2.10","port":27016,"steam_port":27017}` + "\n" + `{"addr":"192.0.2.11:27016","port":2302}` + "\n" +
		`{"addr":"192.0.2.12:27016","ip":"192.0.2.12","port":27016}` + "\n",
		want: "192.0.2.10:27016|192.0.2.11:27016|192.0.2.12:27016",
		note: "standard input: rows with several ports: 2; the field query_port is used, or the field port if query_port is missing"},
	{name: "nested", format: "NDJSON", text: `{"server":{"ip":"192.0.2.10","port":5}}` + "\n" + `{"ip":"192.0.2.11","net":{"ports":{"query":1,"gamePort":27016}}}` + "\n" +
		`{"ip":"192.0.2.12","port":2302,"raw":[{"queryPort":27016}]}` + "\n" + `{"data":[{"attributes":{"a b":{"ip":"192.0.2.13"}}}]}` + "\n" +
		`{"ip":"192.0.2.14","port":27016,"raw":{"gamePort":2302}}` + "\n",
		want: "192.0.2.14:27016",
		invalid: "1 " + string(faultNested) + `: jq -c 'del(.server) + .server': {"server":{"ip":"192.0.2.10","port":5}}|` +
			"2 " + string(faultNested) + ": jq -c 'del(.net.ports.query) + {query_port: .net.ports.query}': 192.0.2.11|" +
			"3 " + string(faultNested) + ": jq -c 'del(.raw[].queryPort) + ({query_port: .raw[].queryPort} // {})': 192.0.2.12:2302|" +
			"4 " + string(faultNested) + `: {"attributes":{"a b":{"ip":"192.0.2.13"}}}`},
	{name: "nested names", format: "NDJSON", text: `{"ip":"192.0.2.10","ports":{"game":2302,"query":27016}}` + "\n" + `{"ip":"192.0.2.11","port":2302,"query":{"port":27016}}` + "\n" +
		`{"ip":"192.0.2.12","port":{"a":5}}` + "\n" + `{"ip":"192.0.2.13","port":2302,"ports":{"query":27016}}` + "\n",
		invalid: "1 " + string(faultNested) + ": jq -c 'del(.ports.query) + {query_port: .ports.query}': 192.0.2.10|" +
			"2 " + string(faultNested) + ": jq -c 'del(.query.port) + {query_port: .query.port}': 192.0.2.11:2302|" +
			"3 " + string(faultNested) + ": jq -c 'del(.port.a) + {port: .port.a}': 192.0.2.12|" +
			"4 " + string(faultNested) + ": jq -c 'del(.ports.query) + {query_port: .ports.query}': 192.0.2.13:2302"},
	{name: "ports in another form", format: "NDJSON", text: `{"ip":"192.0.2.1","steam_port":"27015-27016"}` + "\n" + `{"ip":"192.0.2.2","steam_port":"27016/udp"}` + "\n" +
		`{"ip":"192.0.2.3","a2s_port":"0x6988"}` + "\n" + `{"ip":"192.0.2.4","query_port":" 27016 "}` + "\n" + `{"ip":"192.0.2.5","query_port":"27016,27018-27019"}` + "\n" +
		`{"ip":"192.0.2.6","query_port":"27016/udp"}` + "\n" + `{"ip":"192.0.2.7","steam_port":"none","rcon_port":false,"voice_port":-1,"specport":0}` + "\n",
		want: "192.0.2.4:27016|192.0.2.5:27016|192.0.2.5:27018|192.0.2.5:27019|192.0.2.7:27015",
		invalid: "1 " + string(faultPortColumn) + ": 192.0.2.1|2 " + string(faultPortColumn) + ": 192.0.2.2|3 " + string(faultPortColumn) + ": 192.0.2.3|" +
			"6 the port is not a number from 1 to 65535: 192.0.2.6:27016/udp"},
	{name: "ports in another form", format: "CSV", text: "ip,port_range,udp_ports\n192.0.2.1,27015-27020,\n192.0.2.2,,27016;27017\n192.0.2.3,,\n",
		want: "192.0.2.3:27015", invalid: "2 " + string(faultPortColumn) + ": 192.0.2.1|3 " + string(faultPortColumn) + ": 192.0.2.2"},
	{name: "nested arrays, keys and text", format: "NDJSON", text: `{"ip":"192.0.2.1","info":{"ports":[27016]}}` + "\n" + `{"ip":"192.0.2.2","net":{"port":[27016]}}` + "\n" +
		`{"ip":"192.0.2.3","ports":{"udp":[27016],"tcp":[22]}}` + "\n" + `{"ip":"192.0.2.4","ports":{"27016/udp":{}}}` + "\n" + `{"ip":"192.0.2.5","net":{"port":"27016/udp"}}` + "\n" +
		`{"ip":"192.0.2.6","ports":{"udp":{"game":5,"query":27016}}}` + "\n" + `{"ip":"192.0.2.7","port":2302,"net":{"query_ports":[27016]}}` + "\n" + `{"ip":"192.0.2.8","net":{"\u0070ort":[[27016]]}}` + "\n" +
		`{"ip":"192.0.2.9","ports":{}}` + "\n",
		want: "192.0.2.9:27015",
		invalid: "1 " + string(faultNested) + ": jq -c 'del(.info.ports[]) + ({port: .info.ports[]} // {})': 192.0.2.1|" +
			"2 " + string(faultNested) + ": jq -c 'del(.net.port[]) + ({port: .net.port[]} // {})': 192.0.2.2|" +
			"3 " + string(faultNested) + ": jq -c 'del(.ports.udp[]) + ({port: .ports.udp[]} // {})': 192.0.2.3|" +
			"4 " + string(faultNested) + ": 192.0.2.4|5 " + string(faultNested) + ": 192.0.2.5|" +
			"6 " + string(faultNested) + ": jq -c 'del(.ports.udp.query) + {query_port: .ports.udp.query}': 192.0.2.6|" +
			"7 " + string(faultNested) + ": jq -c 'del(.net.query_ports[]) + ({query_port: .net.query_ports[]} // {})': 192.0.2.7:2302|" +
			"8 " + string(faultNested) + ": jq -c 'del(.net.port[][]) + ({port: .net.port[][]} // {})': 192.0.2.8"},
	{name: "other nested ports besides", format: "NDJSON", text: `{"ip":"192.0.2.1","port":2302,"raw":{"steamPort":27016}}` + "\n" + `{"ip":"192.0.2.2","port":2302,"a2s":{"port":27016}}` + "\n" +
		`{"ip":"192.0.2.3","port":27016,"raw":{"port":27016,"gameport":2302},"ports":[27016]}` + "\n",
		want: "192.0.2.1:2302|192.0.2.2:2302|192.0.2.3:27016",
		note: "standard input: rows with several ports: 2; the field query_port is used, or the field port if query_port is missing"},
	{name: "an empty endpoint", format: "NDJSON", text: `{"endpoint":{}}` + "\n" + `{"ip":"192.0.2.1","port":2302,"endpoint":{"ip":"192.0.2.1","port":27016}}` + "\n",
		want: "192.0.2.1:27016", invalid: `1 no address found: {"endpoint":{}}`},
	{name: "query ports inside", format: "NDJSON", text: `{"endpoint":{"ip":"192.0.2.1","port":2302,"queryPort":27016}}` + "\n" + `{"ip":"192.0.2.2","ports":[{"port":2302,"query_port":27016}]}` + "\n" +
		`{"ip":"192.0.2.3","services":[{"port":2302,"query_port":27016},{"port":5,"proto":"tcp"}],"tag":"x"}` + "\n" + `{"attributes":{"ip":"192.0.2.4","port":2302},"queryPort":27016}` + "\n" +
		`{"queryPort":27016,"servers":[{"ip":"192.0.2.5"},{"ip":"192.0.2.6","port":2302}]}` + "\n" + `{"steam_port":27016,"servers":[{"ip":"192.0.2.7"}]}` + "\n" +
		`{"net":{"port":27016},"servers":[{"ip":"192.0.2.8"},{"ip":"192.0.2.9","port":5}]}` + "\n",
		want:    "192.0.2.1:27016|192.0.2.2:27016|192.0.2.3:27016 x|192.0.2.4:27016|192.0.2.5:27016|192.0.2.6:27016|192.0.2.9:5",
		invalid: "6 " + string(faultPortColumn) + ": 192.0.2.7|7 " + string(faultPortColumn) + ": 192.0.2.8", skipped: 1},
	{name: "a second address with the port", format: "NDJSON", text: `{"ip":"192.0.2.1","address":"192.0.2.1:27016"}` + "\n" + `{"ip":"192.0.2.2","host":"a.example:27016"}` + "\n" +
		`{"host":"192.0.2.3","ip_port":"192.0.2.3:27016"}` + "\n" + `{"ip":"192.0.2.4","connect":"steam://connect/192.0.2.4:27016/x"}` + "\n" + `{"ip":"192.0.2.5","address":"192.0.2.6:27016"}` + "\n" +
		`{"ip":"192.0.2.7","port":27016,"connect":"192.0.2.7:2302"}` + "\n",
		want: "192.0.2.1:27016|192.0.2.2:27016|192.0.2.3:27016|192.0.2.4:27016|192.0.2.7:27016", invalid: "5 " + string(faultPortColumn) + ": 192.0.2.5",
		note: "standard input: rows with several ports: 1; the field query_port is used, or the field port if query_port is missing"},
	{name: "a second column with the port", format: "CSV", text: "ip,ip:port,name\n192.0.2.1,192.0.2.1:27016,x\n", want: "192.0.2.1:27016 x"},
	{name: "words with port", format: "NDJSON", text: `{"ip":"192.0.2.1","portnumber":27016}` + "\n" + `{"ip":"192.0.2.2","portId":"27016"}` + "\n" + `{"ip":"192.0.2.3","Portnummer":27016}` + "\n" +
		`{"ip":"192.0.2.4","softwareport":27016}` + "\n" + `{"ip":"192.0.2.5","IsSupported":1,"portal":2,"opportunities":3,"Portugal":4}` + "\n",
		want: "192.0.2.5:27015",
		invalid: "1 " + string(faultPortColumn) + ": 192.0.2.1|2 " + string(faultPortColumn) + ": 192.0.2.2|3 " + string(faultPortColumn) + ": 192.0.2.3|" +
			"4 " + string(faultPortColumn) + ": 192.0.2.4"},
	{name: "words besides query port", format: "NDJSON", text: `{"ip":"192.0.2.1","port":27016,"query_port_latency":35}` + "\n" + `{"ip":"192.0.2.2","query_src_port":54321}` + "\n" +
		`{"ip":"192.0.2.3","port":27016,"portQueryMs":"35 ms","queryPortOpen":true}` + "\n" + `{"ip":"192.0.2.4","port":2302,"A2S query port number":27016}` + "\n" + `{"ip":"192.0.2.5","port":28015,"rust_query_port":28017}` + "\n",
		want: "192.0.2.1:27016|192.0.2.3:27016|192.0.2.4:27016|192.0.2.5:28017", invalid: "2 " + string(faultPortColumn) + ": 192.0.2.2",
		note: "standard input: rows with several ports: 2; the field query_port is used, or the field port if query_port is missing"},
	{name: "no query port", format: "NDJSON", text: `{"addr":"192.0.2.1:27016","query_port":0}` + "\n" + `{"ip":"192.0.2.2","query_port":0,"ports":[27016]}` + "\n" +
		`{"ip":"192.0.2.3","query_port":0,"queryPort":27016}` + "\n" + `{"ip":"192.0.2.4","port":0,"steam_port":27016}` + "\n",
		want: "192.0.2.1:27016|192.0.2.2:27016|192.0.2.3:27016", invalid: "4 " + string(faultPortColumn) + ": 192.0.2.4"},
	{name: "a column without a query port", format: "CSV", text: "address,query_port,name\n192.0.2.1:27016,0,x\n", want: "192.0.2.1:27016 x"},
	{name: "two query ports", format: "NDJSON", text: `{"ip":"192.0.2.1","query_port":27016,"steam_query_port":27017}` + "\n" + `{"ip":"192.0.2.2","query_port":27016,"raw":{"qport":27017}}` + "\n" +
		`{"ip":"192.0.2.3","query_port":27016,"port":5,"raw":{"queryPort":"27016","port":6}}` + "\n",
		want: "192.0.2.1:27016|192.0.2.2:27016|192.0.2.3:27016",
		note: "standard input: rows with several ports: 2; the field query_port is used, or the field port if query_port is missing"},
	{name: "states", format: "NDJSON", text: `{"ip":"192.0.2.1","ports":[{"port":5,"status":"Open"},{"port":6,"state":"closed"},{"port":7,"status":"up"}]}` + "\n" +
		`{"ip":"192.0.2.2","port":5,"rec_type":"status","data":{"status":"OPEN"}}` + "\n", want: "192.0.2.1:5|192.0.2.1:7|192.0.2.2:5", skipped: 1},
	{name: "lists that are not of servers", format: "NDJSON", text: `{"ip":"192.0.2.1","port":27016,"data":[{"x":1}]}` + "\n" + `{"ip":"192.0.2.2","servers":[{"port":5},{"port":6}]}` + "\n" +
		`{"ip":"192.0.2.3","port":2302,"result":[{"queryPort":27016}]}` + "\n" + `{"ip":"192.0.2.4","port":27016,"url":"u","input":"y"}` + "\n" + `{"url":"http://x","input":"y"}` + "\n",
		want: "192.0.2.1:27016|192.0.2.2:5|192.0.2.2:6|192.0.2.4:27016",
		invalid: "3 " + string(faultNested) + ": jq -c 'del(.result[].queryPort) + ({query_port: .result[].queryPort} // {})': 192.0.2.3:2302|" +
			`5 no address found: {"url":"http://x","input":"y"}`},
	{name: "quoted", format: "CSV", text: "\"192.0.2.10:5\",\"192.0.2.11:6\"\n\"192.0.2.12:5\",\"192.0.2.13:6\",eu\n\"192.0.2.14:5\",eu\n",
		want: "192.0.2.10:5|192.0.2.11:6|192.0.2.14:5", invalid: "2 " + string(faultColumns) + `: "192.0.2.12:5","192.0.2.13:6",eu`},
	{name: "no header", format: "TSV", text: "Connect\t192.0.2.10:5\n", want: "192.0.2.10:5"},
	{name: "a port behind its name", format: "text", text: "192.0.2.10 :27016\n192.0.2.11 port 27016\n192.0.2.12 query port=27016\n192.0.2.13 portal\n192.0.2.14 : x\n",
		want:    "192.0.2.13:27015 portal|192.0.2.14:27015 : x",
		invalid: "1 " + string(faultStrayPort) + ": 192.0.2.10 :27016|2 " + string(faultStrayPort) + ": 192.0.2.11 port 27016|3 " + string(faultStrayPort) + ": 192.0.2.12 query port=27016"},
	{name: "between signs", format: "text", text: "192.0.2.10:5 / 192.0.2.11:6\n192.0.2.12:5 (192.0.2.13:6) x\n192.0.2.14:5 - eu\n",
		want: "192.0.2.10:5 / 192.0.2.11:6|192.0.2.12:5 (192.0.2.13:6) x|192.0.2.14:5 - eu",
		note: "standard input: lines with another address after the first: 2; only the first address is queried, so write one target per line"},
	{name: "closed", format: "NDJSON", text: `{"ip":"192.0.2.10","port":5,"status":"closed"}` + "\n" + `{"ip":"192.0.2.11","port":5,"state":"open"}` + "\n", want: "192.0.2.11:5", skipped: 1},
	{name: "XML", format: "XML", text: "<?xml version=\"1.0\"?>\n<nmaprun scanner=\"masscan\">\n<host/>\n", invalid: "1 " + string(faultXML) + ": <"},
	{name: "as players write", format: "text", text: "steam://connect/192.0.2.10:27016/secret\nconnect 192.0.2.11:27016; password x\nSteam://Connect/192.0.2.12 eu\nsteam://connect/192.0.2.13:5 steam://connect/192.0.2.14:6\n",
		want: "192.0.2.10:27016|192.0.2.11:27016 password x|192.0.2.12:27015 eu|192.0.2.13:5|192.0.2.14:6"},
	{name: "links", format: "NDJSON", text: `{"connect":"steam://connect/192.0.2.10:2302","queryPort":27016}` + "\n" + `{"address":"steam://connect/192.0.2.11","port":27016}` + "\n", want: "192.0.2.10:27016|192.0.2.11:27016"},
	{name: "IPv6 in JSON", format: "NDJSON", text: `{"ip":"2001:db8::1","port":5}` + "\n" + `{"addr":"[2001:db8::1]:5","queryPort":6}` + "\n" + `{"ip":"2001:db8::1","steam_port":6}` + "\n", ipv6: 3},

	// Several targets in a line.
	{name: "blanks", format: "text", text: "192.0.2.10:5 192.0.2.11:6\t 192.0.2.12:7-8\n", want: "192.0.2.10:5|192.0.2.11:6|192.0.2.12:7|192.0.2.12:8"},
	{name: "commas", format: "text", text: "192.0.2.10:5,192.0.2.11:6, 192.0.2.12:7 ,192.0.2.13:8,\n", want: "192.0.2.10:5|192.0.2.11:6|192.0.2.12:7|192.0.2.13:8"},
	{name: "commas between ports", format: "text", text: "192.0.2.10:5,6,192.0.2.11:7\n192.0.2.12:7;192.0.2.13:8,9-10;\n",
		want: "192.0.2.10:5|192.0.2.10:6|192.0.2.11:7|192.0.2.12:7|192.0.2.13:8|192.0.2.13:9|192.0.2.13:10"},
	{name: "bare addresses", format: "text", text: "192.0.2.10 192.0.2.11 192.0.2.12\n", want: "192.0.2.10:27015|192.0.2.11:27015|192.0.2.12:27015"},
	{name: "networks", format: "text", text: "192.0.2.10/31:5 192.0.2.20/31:6\n", want: "192.0.2.10:5|192.0.2.11:5|192.0.2.20:6|192.0.2.21:6"},
	{name: "ranges", format: "text", text: "192.0.2.10-192.0.2.11:5,192.0.2.20-192.0.2.20:6\n192.0.2.1 - 192.0.2.2:5 192.0.2.4 - 192.0.2.4:5\n",
		want: "192.0.2.10:5|192.0.2.11:5|192.0.2.20:6|192.0.2.1:5|192.0.2.2:5|192.0.2.4:5"},
	{name: "several and a comment", format: "text", text: "192.0.2.10:5 192.0.2.11:6 # 192.0.2.12:7\n192.0.2.13:5 # 192.0.2.12:7\n",
		want: "192.0.2.10:5 # 192.0.2.12:7|192.0.2.11:6 # 192.0.2.12:7|192.0.2.13:5 # 192.0.2.12:7"},
	{name: "several and text", format: "text", text: "192.0.2.10:5 192.0.2.11:6 eu\n192.0.2.10,192.0.2.11,eu\n192.0.2.10:5 192.0.2.11:6 192.0.2.12\n",
		invalid: "1 " + string(faultSeveral) + ": 192.0.2.10:5 192.0.2.11:6 eu|2 " + string(faultSeveral) + ": 192.0.2.10,192.0.2.11,eu|" +
			"3 " + string(faultSeveral) + ": 192.0.2.10:5 192.0.2.11:6 192.0.2.12"},
	{name: "a bare address behind a port", format: "text", text: "192.0.2.10:5 1.0.3.3\n192.0.2.10/31:5,1.0.3.3 x\n",
		invalid: "1 " + string(faultBare) + ": 192.0.2.10:5 1.0.3.3|2 " + string(faultBare) + ": 192.0.2.10/31:5,1.0.3.3 x"},
	{name: "other tags", format: "text", text: "192.0.2.10:5 v 1.0.3.3\n192.0.2.11 build 192.0.2.12\n192.0.2.12:5 24/32 players\n192.0.2.13:5 1.0.3\n192.0.2.14:5 a.example:6\n192.0.2.15:5,3,eu\n",
		want: "192.0.2.10:5 v 1.0.3.3|192.0.2.11:27015 build 192.0.2.12|192.0.2.12:5 24/32 players|192.0.2.13:5 1.0.3|192.0.2.14:5 a.example:6|192.0.2.15:5 3,eu"},
	{name: "addresses of another form", format: "text", text: "192.0.2.10:5 192.0.2.0/24 AS64500\n192.0.2.11:5 [2001:db8::1]:5\n",
		want: "192.0.2.10:5 192.0.2.0/24 AS64500|192.0.2.11:5 [2001:db8::1]:5",
		note: "standard input: lines with another address after the first: 2; only the first address is queried, so write one target per line"},
	{name: "behind an IPv6 address", format: "text", text: "[2001:db8::1]:5 192.0.2.10:5\n", want: "192.0.2.10:5", ipv6: 1},

	{name: "IPv6", format: "text", text: "[2001:db8::1]:27015\n192.0.2.10:5\n2001:db8::1\n", want: "192.0.2.10:5", ipv6: 2},
	{name: "brackets", format: "text", text: "[EU] 192.0.2.10:5\n[*] 192.0.2.10:5\n[+] found 192.0.2.10:5\n[192.0.2.11]:5\n[192.0.2.12:5]\n[2001:db8::1\n[2001:db8::1]x\n[::1]:5\n",
		want: "192.0.2.11:5", ipv6: 1,
		invalid: faults(faultAddress, 1, "[EU] 192.0.2.10:5", 2, "[*] 192.0.2.10:5", 3, "[+] found 192.0.2.10:5", 5, "[192.0.2.12:5]", 6, "[2001:db8::1", 7, "[2001:db8::1]x")},
	{name: "brackets in a table", format: "CSV", text: "ip,port\n[192.0.2.10],5\n[EU],6\n", want: "192.0.2.10:5", invalid: faults(faultAddress, 3, "[EU]:6")},

	// The first line decides the format, and must not change what the other lines mean.
	{name: "own ports first", format: "text", text: "192.0.2.10:5-6,8\n192.0.2.11:5 eu\n192.0.2.12:5,6,\n192.0.2.13:5-6;8\n",
		want: "192.0.2.10:5|192.0.2.10:6|192.0.2.10:8|192.0.2.11:5 eu|192.0.2.12:5|192.0.2.12:6|192.0.2.13:5 8|192.0.2.13:6 8"},
	{name: "a network and its port", format: "CSV", text: "192.0.2.10/31,5\n192.0.2.12-192.0.2.13,6\n", want: "192.0.2.10:5|192.0.2.11:5|192.0.2.12:6|192.0.2.13:6"},
	{name: "a network and its port in text", format: "text", text: "192.0.2.9:5\n192.0.2.10/31 27016\n", want: "192.0.2.9:5", invalid: faults(faultStrayPort, 2, "192.0.2.10/31 27016")},
	{name: "unknown names of the address", format: "CSV", text: "Server IP,Server Name,Query Port\n192.0.2.10,foo,27016\na.example,foo,5\n192.0.2.11:5,,27017\n",
		want: "192.0.2.10:27016 foo|192.0.2.11:27017", invalid: faults(faultAddress, 3, "a.example:5")},
	{name: "unknown names of both", format: "TSV", text: "name\tipv4\tsteam_port\nfoo\t192.0.2.10\t27016\n", invalid: faults(faultPortColumn, 2, "192.0.2.10")},
	{name: "no names", format: "text", text: "My servers, port 27016\n192.0.2.10:5 a, b\n", want: "192.0.2.10:5 a, b", invalid: faults(faultAddress, 1, "My servers, port 27016")},
	{name: "a title before the names", format: "text", text: "My servers\nip,name,port\n192.0.2.10,foo,27016\n",
		invalid: "1 " + string(faultAddress) + ": My servers|2 " + string(faultAddress) + ": ip,name,port|3 " + string(faultStrayPort) + ": 192.0.2.10,foo,27016"},
	{name: "names in a comment", format: "CSV", text: "# servers\n#ip,port,query_port\n192.0.2.10,2302,27016\n192.0.2.11,2302,\n", want: "192.0.2.10:27016|192.0.2.11:2302"},
	{name: "names in a comment, of another table", format: "CSV", text: "#ip,name,port\n192.0.2.10,27016\n", want: "192.0.2.10:27016"},
	{name: "ranks", format: "CSV with semicolons", text: "#;address;name;query port\n1;192.0.2.10;foo;27016\n", want: "192.0.2.10:27016 foo"},
	{name: "names with a number sign", format: "CSV", text: "name,ip,port\n#1 Best,192.0.2.10,5\n# a,b,c\n#\n#2,a.example,6\n",
		want: "192.0.2.10:5 #1 Best", invalid: faults(faultAddress, 5, "a.example:6")},
	{name: "a number sign without names of columns", format: "TSV", text: "foo\t192.0.2.10:5\n#1 Best\t192.0.2.11:6\n#192.0.2.12:7\tx\n", want: "192.0.2.10:5|192.0.2.11:6"},

	// A port behind an address without a port is never a tag, in whatever form.
	{name: "ports behind addresses", format: "text", text: "192.0.2.10 27016-27018\n192.0.2.10 27016/udp open\n192.0.2.10 udp/27016\n192.0.2.10 \u007c 27016\n192.0.2.10,,27016\n192.0.2.10,a b,27016\n" +
		"192.0.2.10 qport 80 x\n192.0.2.10 port80\n192.0.2.10 (27016)\n192.0.2.10,\"27016,27017\"\nsteam://connect/192.0.2.10 27016\n192.0.2.10 -> [27015]\n",
		invalid: faults(faultStrayPort, 1, "192.0.2.10 27016-27018", 2, "192.0.2.10 27016/udp open", 3, "192.0.2.10 udp/27016", 4, "192.0.2.10 \u00a6 27016", 5, "192.0.2.10,,27016",
			6, "192.0.2.10,a b,27016", 7, "192.0.2.10 qport 80 x", 8, "192.0.2.10 port80", 9, "192.0.2.10 (27016)", 10, `192.0.2.10,"27016,27017"`, 11, "steam://connect/192.0.2.10 27016",
			12, "192.0.2.10 -> [27015]")},
	{name: "no ports behind addresses", format: "text", text: "192.0.2.10 since 2024-01-02 12:30\n192.0.2.11 1.21.4 64 slots\n192.0.2.12 a#2345\n192.0.2.13 x # 27016\n192.0.2.14 # 27016\n192.0.2.15 27016x\n192.0.2.16\tBerlin 10115\n192.0.2.17 clan server since 2019\n",
		want: "192.0.2.10:27015 since 2024-01-02 12:30|192.0.2.11:27015 1.21.4 64 slots|192.0.2.12:27015 a#2345|192.0.2.13:27015 x # 27016|192.0.2.14:27015 # 27016|192.0.2.15:27015 27016x|192.0.2.16:27015 Berlin 10115|192.0.2.17:27015 clan server since 2019"},
	{name: "ports in other columns", format: "CSV", text: "\"192.0.2.10\",\"27016,27017\"\n\"192.0.2.11\",27016/udp\n\"192.0.2.12\",x,27016\n", invalid: faults(faultPortColumn, 1, "192.0.2.10", 2, "192.0.2.11", 3, "192.0.2.12")},
	{name: "more columns than names", format: "CSV", text: "ip,name\n192.0.2.10,foo,27016\n192.0.2.11:5,foo,27016\n", want: "192.0.2.11:5 foo", invalid: faults(faultPortColumn, 2, "192.0.2.10")},

	// No target is lost behind another.
	{name: "commands and links", format: "text", text: "connect 192.0.2.10:5; connect 192.0.2.11:6\nsteam://connect/192.0.2.12:5/pw steam://connect/192.0.2.13:6/pw\n192.0.2.14:5 connect 192.0.2.15:6\nsteam://connect/192.0.2.16:5/my password\n",
		want: "192.0.2.10:5|192.0.2.11:6|192.0.2.12:5|192.0.2.13:6|192.0.2.14:5|192.0.2.15:6|192.0.2.16:5 password"},
	{name: "addresses in tags", format: "text", text: "192.0.2.10:5 192.0.2.99:270166\n192.0.2.11:5 192.0.2.99:6/udp\n192.0.2.12:5 <192.0.2.99:6>\n192.0.2.13:5 -> 192.0.2.99:6\n192.0.2.14:5 and 192.0.2.99:6\n" +
		"192.0.2.15:5 v 1.0.3.3\n192.0.2.16:5 # 192.0.2.99:6\n- 192.0.2.99:6\n",
		want: "192.0.2.10:5 192.0.2.99:270166|192.0.2.11:5 192.0.2.99:6/udp|192.0.2.12:5 <192.0.2.99:6>|192.0.2.13:5 -> 192.0.2.99:6|192.0.2.14:5 and 192.0.2.99:6|192.0.2.15:5 v 1.0.3.3|192.0.2.16:5 # 192.0.2.99:6",
		note: "standard input: lines with another address after the first: 5; only the first address is queried, so write one target per line", invalid: faults(faultAddress, 8, "- 192.0.2.99:6")},
	{name: "a port behind a bare address", format: "text", text: "192.0.2.10 192.0.2.11:27016 x\n", invalid: faults(faultSeveral, 1, "192.0.2.10 192.0.2.11:27016 x")},
	{name: "addresses in other columns", format: "CSV", text: "192.0.2.10,5,x\n192.0.2.11,5,192.0.2.12,6\nx,192.0.2.13,y,192.0.2.14\n192.0.2.15,5,x,192.0.2.16:6\n192.0.2.17,5,x,1.0.3.3\n",
		want: "192.0.2.10:5|192.0.2.17:5", note: "standard input: lines with another address after the first: 1; only the first address is queried, so write one target per line",
		invalid: "2 " + string(faultColumns) + ": 192.0.2.11,5,192.0.2.12,6|3 " + string(faultAddress) + ": x:192.0.2.13|4 " + string(faultColumns) + ": 192.0.2.15,5,x,192.0.2.16:6"},
	{name: "two addresses without ports", format: "CSV", text: "x,192.0.2.10,y,192.0.2.11\nx,192.0.2.12,192.0.2.12:5\n", invalid: faults(faultColumns, 1, "x,192.0.2.10,y,192.0.2.11", 2, "x,192.0.2.12,192.0.2.12:5")},

	// A server chooses its name, and must not be able to add a target.
	{name: "line breaks in names", format: "CSV", text: "ip,port,name\n192.0.2.10,5,\"foo\n192.0.2.99,5,\"\"x\n\n#,192.0.2.99,5\nbar\" \n192.0.2.11,6,x\n# a \"b\n192.0.2.12,7,\"x\"\n",
		want:    "192.0.2.11:6 x|192.0.2.12:7 x",
		invalid: "2 " + string(faultQuote) + ": 192.0.2.10,5,\"foo|3 " + string(faultInQuotes) + ": 192.0.2.99,5,\"\"x|5 " + string(faultInQuotes) + ": #,192.0.2.99,5|6 " + string(faultInQuotes) + ": bar\" "},
	{name: "line breaks in the first row", format: "CSV", text: "192.0.2.10,5,\"foo\n192.0.2.99,5,bar\"\n192.0.2.11,6,\"x\"\n", want: "192.0.2.11:6",
		invalid: "1 " + string(faultQuote) + ": 192.0.2.10,5,\"foo|2 " + string(faultInQuotes) + ": 192.0.2.99,5,bar\""},

	// A carriage return does not end a line, and hides no target.
	{name: "carriage returns behind a comment", format: "text", text: "# list\r192.0.2.10:5\r192.0.2.11:6\n192.0.2.12:7\n", want: "192.0.2.12:7", invalid: faults(faultLineEnds, 1, `# list\r192.0.2.10:5\r192.0.2.11:6`)},
	{name: "carriage returns in a table", format: "CSV", text: "ip,port\r192.0.2.10,5\r", invalid: faults(faultLineEnds, 1, `ip,port\r192.0.2.10,5`)},
	{name: "carriage returns, masscan", format: "masscan list", text: "open udp 5 192.0.2.10 1\ropen udp 5 192.0.2.11 1\r", invalid: faults(faultLineEnds, 1, `open udp 5 192.0.2.10 1\ropen udp 5 192.0.2.11 1`)},
	{name: "carriage returns, nmap", format: "nmap -oG", text: "# Nmap\rHost: 192.0.2.9 ()\nHost: 192.0.2.10 ()\tPorts: 5/open/udp/////\rHost: 192.0.2.11 ()\n",
		invalid: faults(faultLineEnds, 1, `# Nmap\rHost: 192.0.2.9 ()`, 2, `Host: 192.0.2.10 ()\tPorts: 5/open/udp/////\rHost: 192.0.2.11 ()`)},
	{name: "carriage returns, names", format: "text", text: "192.0.2.10:5\ra.example\rb.example\r", invalid: faults(faultLineEnds, 1, `192.0.2.10:5\ra.example\rb.example`)},
	{name: "carriage returns, JSON", format: "NDJSON", text: "{\"ip\":\"192.0.2.10\",\r\"port\":5}\n# x\r{\"ip\":\"192.0.2.11\"}\n", want: "192.0.2.10:5", invalid: faults(faultLineEnds, 2, `# x\r{"ip":"192.0.2.11"}`)},
	{name: "other carriage returns", format: "text", text: "192.0.2.10:5\r\r\n\r192.0.2.11:5\n192.0.2.12:5 a\rb\n", want: "192.0.2.10:5|192.0.2.11:5|192.0.2.12:5 a\rb"},
}

// faults describes invalid lines that have the same fault, as toolLists does. After the
// fault, each line has its number and its text.
func faults(f fault, lines ...any) string {
	var all []string
	for i := 0; i < len(lines); i += 2 {
		all = append(all, fmt.Sprintf("%d %v: %v", lines[i], f, lines[i+1]))
	}
	return strings.Join(all, "|")
}

// TestToolLists reads every list at once in random order, and byte by byte in input order.
func TestToolLists(t *testing.T) {
	split := func(s string) []string {
		return slices.DeleteFunc(strings.Split(s, "|"), func(s string) bool { return s == "" })
	}
	for _, test := range toolLists {
		for _, inOrder := range []bool{true, false} {
			allow := mustExclude(t, exclusionConfig{AllowReserved: true})
			var stdin io.Reader = strings.NewReader(test.text)
			if inOrder {
				stdin = iotest.OneByteReader(stdin)
			}
			var notes []string
			l, got, bad := opened(t, Config{
				Stdin: stdin, InOrder: inOrder, Exclusions: allow,
				Note: func(note string) { notes = append(notes, note) },
			})
			for i := range bad {
				bad[i] = strings.ReplaceAll(bad[i], " | ", " ¦ ") // test.invalid is split at "|"
			}
			want := split(test.want)
			if !inOrder {
				slices.Sort(got)
				slices.Sort(want)
			}
			if !slices.Equal(got, want) || !slices.Equal(bad, split(test.invalid)) || l.Err() != nil {
				t.Errorf("%s: %q, invalid %q, %v\nwant %q, %q", test.name, got, bad, l.Err(), want, test.invalid)
			}
			in := l.Inputs()[0]
			if in.Format != test.format || in.Skipped != test.skipped {
				t.Errorf("%s: %+v", test.name, in)
			}
			if s := l.Stats(); s.Unscannable != test.ipv6 || allow.ipv6.targets.Load() != test.ipv6 {
				t.Errorf("%s: %+v", test.name, s)
			}
			if test.note != "" && !slices.Contains(notes, test.note) {
				t.Errorf("%s: noted %q", test.name, notes)
			}
		}
	}
}

// TestMissingQuote checks that a quote that is never closed makes only a few rows invalid.
func TestMissingQuote(t *testing.T) {
	text := "ip\tport\tname\n192.0.2.10\t5\t\"foo\n"
	for port := 10_000; port < 11_000; port++ {
		text += fmt.Sprintf("192.0.2.11\t%d\tx\n", port)
	}
	_, got, bad := opened(t, Config{Stdin: strings.NewReader(text), Exclusions: mustExclude(t, exclusionConfig{AllowReserved: true})})
	if len(bad) > 250 || len(got)+len(bad) != 1001 {
		t.Errorf("%d targets, %d invalid lines; want at most 250", len(got), len(bad))
	}
}

// TestIPv6Resumed: each IPv6 address counts once, however often the list is resumed.
func TestIPv6Resumed(t *testing.T) {
	const text = "::1\n192.0.2.1:1\n::2\n192.0.2.2:1\n::3\n192.0.2.3:1\n::4\n"
	for _, inOrder := range []bool{true, false} {
		for cut := range uint64(4) {
			sum := uint64(0)
			for _, part := range [][2]uint64{{0, cut}, {cut, 9}} {
				l := mustOpen(t, Config{
					Stdin: strings.NewReader(text), InOrder: inOrder, Exclusions: mustExclude(t, exclusionConfig{AllowReserved: true}),
				})
				stats := Stats{} // up to the last target, as a checkpoint has it
				for tg := range l.From(part[0]) {
					if tg.Place >= part[1] {
						break
					}
					stats = l.Stats()
				}
				if part[1] == 9 {
					stats = l.Stats()
				}
				sum += stats.Unscannable
			}
			if sum != 4 {
				t.Errorf("%v, resumed at %d: %d IPv6 addresses", inOrder, cut, sum)
			}
		}
	}
}

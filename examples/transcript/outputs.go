package main

import (
	"fmt"
	"path"
	"strings"
)

// testRun is the output of `go test -v` for a package, with at most one failing test.
func testRun(r *random, w *workspace, file, failing, failure string) string {
	var b strings.Builder
	pkg := path.Dir(file)
	tests := testsOf(w.files[file])
	broken := strings.Contains(failure, "build failed")
	for _, test := range tests {
		if broken {
			break
		}
		fmt.Fprintf(&b, "=== RUN   %s\n", test.name)
		for _, sub := range test.subs {
			fmt.Fprintf(&b, "=== RUN   %s/%s\n", test.name, sub)
		}
		if test.name == failing {
			fmt.Fprintf(&b, "%s\n--- FAIL: %s (0.%02ds)\n", failure, test.name, r.below(40))
			continue
		}
		fmt.Fprintf(&b, "--- PASS: %s (0.%02ds)\n", test.name, r.below(9))
		for _, sub := range test.subs {
			fmt.Fprintf(&b, "    --- PASS: %s/%s (0.00s)\n", test.name, sub)
		}
	}
	switch {
	case broken:
		fmt.Fprintf(&b, "# tidewater.example/ferry/%s\n%s\n", pkg, failure)
	case failing != "":
		fmt.Fprintf(&b, "FAIL\nFAIL\ttidewater.example/ferry/%s\t0.%03ds\nFAIL\n", pkg, 100+r.below(800))
	default:
		fmt.Fprintf(&b, "PASS\nok  \ttidewater.example/ferry/%s\t0.%03ds\n", pkg, 100+r.below(800))
	}
	return b.String()
}

type testName struct {
	name string
	subs []string
}

// testsOf returns the tests of a file, with the names of their cases if these are the keys of a map.
func testsOf(source string) []testName {
	var tests []testName
	for line := range strings.Lines(source) {
		if rest, found := strings.CutPrefix(line, "func Test"); found {
			name, _, _ := strings.Cut(rest, "(")
			tests = append(tests, testName{name: "Test" + name})
			continue
		}
		name, _, found := strings.Cut(strings.TrimSpace(line), `":`)
		if found && strings.Contains(line, "func(x *") && len(tests) > 0 {
			last := &tests[len(tests)-1]
			last.subs = append(last.subs, strings.ReplaceAll(strings.Trim(name, `"`), " ", "_"))
		}
	}
	return tests
}

// allTests is the output of `go test -race ./...` when all tests pass.
func allTests(r *random) string {
	var b strings.Builder
	for _, pkg := range []string{"cmd/ferryd", "internal/db", "internal/events", "internal/httpx", "internal/ids", "internal/legacy"} {
		fmt.Fprintf(&b, "ok  \ttidewater.example/ferry/%s\t%d.%03ds\n", pkg, r.below(3), r.below(1000))
	}
	for _, e := range entities {
		fmt.Fprintf(&b, "ok  \ttidewater.example/ferry/internal/%s\t%d.%03ds\n", e.Package, 1+r.below(4), r.below(1000))
	}
	return b.String()
}

func clock(second int) string {
	return fmt.Sprintf("%02d:%02d:%02d", second/3600%24, second/60%60, second%60)
}

func holdLog(r *random) string {
	var b strings.Builder
	second := 2370
	for range 44 {
		second += 20 + r.below(170)
		id := r.hex(8)
		switch r.below(4) {
		case 0:
			fmt.Fprintf(&b, "Mar 29 %s ferryd[812]: level=INFO msg=\"hold created\" component=hold key=hld:%s state=open sailing=sai_0230 seats=%d keep=30m0s\n", clock(second), id, 1+r.below(5))
		case 1:
			fmt.Fprintf(&b, "Mar 29 %s ferryd[812]: level=INFO msg=\"hold expired\" component=hold key=hld:%s age=%ds expires_at=2026-03-29T%s+01:00\n", clock(second), id, 4+r.below(50), clock(second))
		case 2:
			fmt.Fprintf(&b, "Mar 29 %s ferryd[812]: level=WARN msg=\"payment for a hold that is gone\" component=hold key=hld:%s payment=pay_%s\n", clock(second), id, r.hex(6))
		default:
			fmt.Fprintf(&b, "Mar 29 %s ferryd[812]: level=INFO msg=\"sweep done\" component=hold swept=%d took=%dms\n", clock(second), r.below(7), 3+r.below(40))
		}
	}
	return b.String()
}

func noticeLog(r *random) string {
	var b strings.Builder
	for minute := range 20 {
		for attempt := range 3 {
			fmt.Fprintf(&b, "May 16 %s ferryd[790]: level=ERROR msg=\"drain stopped\" component=notice err=\"gateway: 422 number not assigned\" key=not:%s queued=%d attempt=%d\n",
				clock(7*3600+minute*60+attempt*20+r.below(4)), "4b1d09c2", 271+min(41, minute*3+attempt), minute*3+attempt+1)
		}
	}
	return b.String()
}

func holdRows(r *random) string {
	var b strings.Builder
	b.WriteString("    id     | seats |  state  |          created_at\n-----------+-------+---------+-------------------------------\n")
	for i := range 24 {
		fmt.Fprintf(&b, " hld_%s | %5d | %-7s | 2026-07-03 %s.%06d+00\n", r.hex(5), 1+r.below(4),
			pick(r, []string{"paid", "paid", "expired", "open"}), clock(66000-i*7-r.below(5)), r.below(1_000_000))
	}
	b.WriteString("(24 rows)\n")
	return b.String()
}

func constraints(*random) string {
	return `Indexes:
    "sailings_pkey" PRIMARY KEY, btree (id)
    "sailings_departs_at_id_idx" btree (departs_at, id)
Check constraints:
    "sailings_lane_cm_left_check" CHECK (lane_cm_left >= 0)
    "sailings_seats_left_check" CHECK (seats_left >= 0)
Foreign-key constraints:
    "sailings_vessel_id_fkey" FOREIGN KEY (vessel_id) REFERENCES vessels(id)
Referenced by:
    TABLE "holds" CONSTRAINT "holds_sailing_id_fkey" FOREIGN KEY (sailing_id) REFERENCES sailings(id)
    TABLE "manifests" CONSTRAINT "manifests_sailing_id_fkey" FOREIGN KEY (sailing_id) REFERENCES sailings(id)
`
}

func paymentRows(*random) string {
	return ` id     | event_id |  reference  |   kind   | amount_cents |          received_at
--------+----------+-------------+----------+--------------+-------------------------------
 88211  | evt_77a1 | NP-4102-77  | pending  |         6520 | 2026-06-02 10:14:51.118204+00
 88212  | evt_77b4 | NP-4102-77  | captured |         6520 | 2026-06-02 10:14:58.400719+00
 88213  | evt_77b4 | NP-4102-77  | captured |         6520 | 2026-06-02 10:14:58.431556+00
(3 rows)
`
}

func sailingPage(r *random) string {
	var b strings.Builder
	routes := []string{"HAR-SKA", "HAR-LOM", "SKA-HAR", "LOM-HAR"}
	for i := range 20 {
		hour := 6 + i*15/20
		if i == 19 {
			hour = 8
		}
		fmt.Fprintf(&b, "sai_%s\t%s\t2026-07-%02dT%02d:%02d:00Z\n", r.hex(4), routes[i%len(routes)], 10+i/16, hour, pick(r, []int{0, 15, 30, 45}))
	}
	return b.String()
}

func queryPlan(*random) string {
	return `                                                QUERY PLAN
-----------------------------------------------------------------------------------------------------------
 Seq Scan on sailings  (cost=0.00..6412.05 rows=1 width=11) (actual time=21.204..34.871 rows=1 loops=1)
   Filter: ((route = 'HAR-SKA'::text) AND (departs_at = '2026-07-04 06:30:00+00'::timestamp with time zone))
   Rows Removed by Filter: 214336
   Buffers: shared hit=96 read=3101
 Planning:
   Buffers: shared hit=71
 Planning Time: 0.402 ms
 Execution Time: 34.903 ms
(8 rows)
`
}

func doubleSailings(*random) string {
	return `  route  |       departs_at       | count |       array_agg
---------+------------------------+-------+-----------------------
 HAR-LOM | 2024-11-02 18:15:00+00 |     2 | {sai_0c41,sai_0c42}
 SKA-HAR | 2025-02-19 07:45:00+00 |     2 | {sai_31d7,sai_31d9}
(2 rows)
`
}

func flakyRuns(r *random) string {
	var b strings.Builder
	for run := range 60 {
		if run != 17 && run != 49 {
			continue
		}
		fmt.Fprintf(&b, "--- FAIL: TestThrottleForgets (1.0%ds)\n    model_test.go:61: allow() = false after a second, want true (0.%d tokens)\n", r.below(9), 9980+r.below(19))
	}
	b.WriteString("FAIL\nFAIL\ttidewater.example/ferry/internal/search\t61.204s\nFAIL\nexit status 1\n")
	return b.String()
}

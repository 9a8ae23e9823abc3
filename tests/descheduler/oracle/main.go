package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	"sigs.k8s.io/descheduler/pkg/descheduler"
)

func main() {
	parallel := flag.Int("parallel", 12, "scenarios at a time; a run mostly waits for informers")
	flag.Parse()
	faults := newFaults()
	if err := quiet(faults); err != nil {
		fatal(err)
	}
	descheduler.SetupPlugins()
	if err := serve(os.Stdin, os.Stdout, *parallel, faults); err != nil {
		fatal(err)
	}
}

// quiet sends klog to the collector of faults alone.
func quiet(faults *faults) error {
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	if err := flags.Set("v", "0"); err != nil {
		return err
	}
	klog.SetLogger(logr.New(faults))
	return nil
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, "oracle:", err)
	os.Exit(1)
}

// serve answers in order while up to parallel scenarios run.
func serve(in io.Reader, out io.Writer, parallel int, faults *faults) error {
	queue := make(chan chan []byte, parallel)
	slots := make(chan struct{}, parallel)
	failed := make(chan error, 1)
	go func() {
		defer close(queue)
		failed <- read(in, queue, slots, faults)
	}()
	writer := bufio.NewWriter(out)
	for answer := range queue {
		if _, err := writer.Write(append(<-answer, '\n')); err != nil {
			return err
		}
		if err := writer.Flush(); err != nil {
			return err
		}
	}
	return <-failed
}

func read(in io.Reader, queue chan<- chan []byte, slots chan struct{}, faults *faults) error {
	reader := bufio.NewReaderSize(in, 1<<20)
	for {
		line, err := reader.ReadBytes('\n')
		if len(line) > 1 {
			answer := make(chan []byte, 1)
			slots <- struct{}{}
			queue <- answer
			go func() {
				defer func() { <-slots }()
				answer <- reply(line, faults)
			}()
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func reply(line []byte, faults *faults) []byte {
	text, err := json.Marshal(respond(line, faults))
	if err != nil {
		text, _ = json.Marshal(answer{Error: err.Error()})
	}
	return text
}

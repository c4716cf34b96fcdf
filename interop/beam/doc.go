// Package nablabeam sums losses and their derivatives over data with Apache Beam: a [sums.Term] is evaluated by the
// workers of a runner such as Flink, Spark, Dataflow, or the Prism of Beam's Go SDK, where the blocks of rows are. An
// [Evaluator] takes the place of a sums.Local:
//
//	local := sums.NewLocal(term, sums.Slice(blocks), nil)
//	beam, err := nablabeam.New[Batch]("loss", read, nablabeam.Options{Scratch: "gs://bucket/sums"})
//
//	sum, err := beam.Sum(ctx, sums.At(x, true))
//	problem := gonumopt.Objective(sums.NewObjective(ctx, beam, false))
//
// A term is registered under a name, in an init function, so that the workers know it too:
//
//	func init() { nablabeam.Register("loss", sums.Loss(loss, source.Reverse{}, sums.Options[Batch]{Rows: rows})) }
//
// and main calls beam.Init before all else, as each program of Beam does. A pipeline runs for each sum, and its start
// takes longer than a small sum. Ask for all that a step needs in one query: several trial points, gradients, a block
// of directions.
//
// # Elements
//
// The elements of the collection are blocks of type B, structs with exported fields; a block should have some hundred
// rows, since the work of Beam for an element is that of many rows. The reader of the collection is the user's; best is
// one that emits blocks itself, such as a ParDo over file names that reads records.
//
// # Retries, bad rows and lost rows
//
// Runners may run a bundle of elements again. The sum of a bundle leaves the worker when the bundle is complete, as an
// element like any other, so that it is counted once. Rows that are left out are counted in the sum, and with
// [TotalAt] the blocks that have them are a collection too. Numbers of rows travel in the sum, not in counters of Beam,
// which some readers and runners update twice. The order in which bundles are added is the runner's: two sums of the
// same data may differ in the last bits.
//
// # Runners
//
// The tests run on Prism, in process and with workers in processes of their own. A program that imports beam/x/beamx
// takes the runner from its flags. The following commands are those of Beam's documentation; they have not been run
// with this package:
//
//	./fit -runner=flink -endpoint=HOST:8099 -environment_type=DOCKER \
//		-environment_config=apache/beam_go_sdk:2.77.0 -worker_binary=./fit -parallelism=16
//	./fit -runner=spark -endpoint=HOST:8099 -environment_type=DOCKER \
//		-environment_config=apache/beam_go_sdk:2.77.0 -worker_binary=./fit
//	./fit -runner=dataflow -project=PROJECT -region=REGION -staging_location=gs://BUCKET/staging
//
// Flink and Spark need Beam's job server, a program in Java, and storage that this program and all workers can reach.
// Without -worker_binary the SDK compiles the program again for each pipeline.
//
// This package imports neither readers nor runners, which are large: import the package of yours, such as
// github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx for all of them.
package nablabeam

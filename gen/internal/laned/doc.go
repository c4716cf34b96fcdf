// Package laned holds tangents of problems in several directions as they are generated,
// so that their values and their speed are tested as those of written code are.
package laned

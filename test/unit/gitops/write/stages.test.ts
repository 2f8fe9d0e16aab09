// The stages of a write: one ends where the next begins, and there is a limit to them.
import { expect, test } from 'vitest'
import { Stages } from '#gitops/write/stages.ts'
import { FakeTime } from '#test/support/fake-time.ts'

test('a stage ends where the next one begins, in the time of the day', () => {
  const time = new FakeTime(1_000_000)
  time.pass(500)
  const stages = new Stages(time.clock)
  stages.restart('wait', 100)
  time.pass(20)
  stages.begin('prepare')
  time.pass(30)
  stages.begin('compile')
  time.pass(5)
  const told = [
    { name: 'wait', startMs: 1_000_100, endMs: 1_000_520 },
    { name: 'prepare', startMs: 1_000_520, endMs: 1_000_550 },
    { name: 'compile', startMs: 1_000_550, endMs: 1_000_555 },
  ]
  expect(stages.end()).toEqual(told)
  time.pass(1_000)
  expect(stages.end()).toEqual(told)
  stages.restart('wait', 1_000)
  expect(stages.end()).toHaveLength(1)
})

test('a write that is tried again and again has a limited number', () => {
  const stages = new Stages(new FakeTime(0).clock)
  stages.restart('wait', 0)
  for (let i = 0; i < 1_000; i++) stages.begin('prepare')
  expect(stages.end()).toHaveLength(32)
})

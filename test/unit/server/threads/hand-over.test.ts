// How many messages are on their way from the responders to the stream thread.
import { expect, test } from 'vitest'
import { HandOverGate, handOverBytes } from '#server/threads/hand-over.ts'

/** @returns how many more it lets in */
function fill(gate: HandOverGate): number {
  for (let entered = 0; ; entered++) if (!gate.enter()) return entered
}

test('a full gate lets one in when one has left', () => {
  const gate = new HandOverGate(new SharedArrayBuffer(handOverBytes))
  expect(fill(gate)).toBe(256)
  gate.leave()
  expect(fill(gate)).toBe(1)
})

test('messages on their way to a thread that died make no extra room', () => {
  const gate = new HandOverGate(new SharedArrayBuffer(handOverBytes))
  fill(gate)
  gate.clear()
  for (let i = 0; i < 10; i++) gate.leave()
  expect(fill(gate)).toBe(256)
})

// The probes of a node with given settings, and what they wrote to its log.
import { defaultProbeSettings } from '#health/probes/probe-settings.ts'
import type { ProbeSettings } from '#health/probes/probe-settings.ts'
import { createProbes } from '#health/probes/probes.ts'
import type { ProbeTable } from '#health/probes/probes.ts'

interface TestProbes {
  readonly probes: ProbeTable
  /** Logged lines, in order. */
  readonly lines: string[]
}

export function testProbes(settings: Partial<ProbeSettings> = {}): TestProbes {
  const lines: string[] = []
  const note = (_fields: object, message: string): void => void lines.push(message)
  const log = { info: note, warn: note, error: note }
  return { probes: createProbes({ ...defaultProbeSettings, ...settings, log }), lines }
}

// The page of diagnostics is the one that the table gives.
import { test } from 'vitest'
import { diagnosticsReference } from './diagnostics-reference.ts'
import { expectCommitted } from '../schemas/committed-file.ts'

test('docs/reference/diagnostics.md explains every diagnostic', () => {
  expectCommitted('docs/reference/diagnostics.md', diagnosticsReference())
})

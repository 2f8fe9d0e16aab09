// Loads the code of policy tests on demand.
import type { SourceFile } from '#compiler/read/source.ts'
import type { PolicyTests } from '#compiler/tree/policy-tests.ts'

/**
 * Returns the tests if there are files with some: `gslbd check` loads no answer path without them.
 */
export async function policyTestsFor(files: readonly SourceFile[]): Promise<PolicyTests | null> {
  const mayHoldTests = files.some(
    ({ bytes }) =>
      bytes !== null && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes('Test'),
  )
  return mayHoldTests ? (await import('./run.ts')).createPolicyTests() : null
}

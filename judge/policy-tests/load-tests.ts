// Loads the policy tests where there are tests to ask.
import type { SourceFile } from '#compiler/read/source.ts'
import type { PolicyTests } from '#compiler/tree/policy-tests.ts'

/** `gslbd check` does not load an answer path for a directory without tests. */
export async function policyTestsFor(files: readonly SourceFile[]): Promise<PolicyTests | null> {
  const mayHoldTests = files.some(
    ({ bytes }) =>
      bytes !== null && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes('Test'),
  )
  return mayHoldTests ? (await import('./run.ts')).createPolicyTests() : null
}

// What the Git thread loads to ask policy tests: it has no answer path of its own.
import { createPolicyTests } from './run.ts'

export const policyTests = createPolicyTests()

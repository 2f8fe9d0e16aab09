// Diagnostics of policy tests.
import type { DiagnosticSpec } from './diagnostic-spec.ts'

const www = '# www.example.com has the members 192.0.2.1 and 192.0.2.2.\nspec:\n'

export const policyTestDiagnostics = {
  'test-failed': {
    severity: 'error',
    message: 'the test "%s" fails: expected %s, got %s',
    messageOfOther: 'a policy test asks for %5$s (%6$s): expected %2$s, got %3$s',
    askedArg: 4,
    help: 'correct the policy, or the test if the change is meant; the answer came about so: %s',
    cause: 'A policy test says what clients have to get. A commit that fails one is held.',
    bad:
      `${www}  cases:\n    - given: { name: www.example.com, down: [web/192.0.2.1] }\n` +
      '      expect: { members: [192.0.2.1] }',
    good:
      `${www}  cases:\n    - given: { name: www.example.com, down: [web/192.0.2.1] }\n` +
      '      expect: { members: [192.0.2.2] }',
  },
  'test-value': {
    severity: 'error',
    message: '%s',
    help: '%s',
    cause: 'A test whose situation means nothing cannot be asked.',
    bad: 'cases:\n  - given: { name: www.example.com, country: Germany }',
    good: 'cases:\n  - given: { name: www.example.com, country: DE }',
  },
  'test-name-missing': {
    severity: 'error',
    message: 'the test "%s" asks for no name',
    help: 'add name to given, of the case or of the whole file',
    cause: 'A test is a question to a name.',
    bad: 'cases:\n  - expect: { rcode: NOERROR }',
    good: 'given: { name: www.example.com }\ncases:\n  - expect: { rcode: NOERROR }',
  },
  'test-service-missing': {
    severity: 'error',
    message: 'no service answers for %s, and the test "%s" expects members of it',
    messageOfOther: 'a policy test expects members of %s, and no service would answer for it',
    askedArg: 0,
    help: 'bring the service back, or take the case away if it is gone on purpose',
    cause: 'The service was removed or renamed, or the name has a mistake.',
    bad: 'given: { name: old.example.com }\ncases:\n  - expect: { members: [192.0.2.1] }',
    good: 'given: { name: old.example.com }\ncases:\n  - expect: { rcode: NXDOMAIN }',
  },
  'test-member-unknown': {
    severity: 'error',
    message: 'there is no member "%s"',
    help: 'write POOL/ADDRESS, or POOL/* for all members of a pool',
    cause: 'Taking down a member that is not there would test nothing.',
    bad: `${www}  cases:\n    - given: { name: www.example.com, down: [web/192.0.2.9] }`,
    good: `${www}  cases:\n    - given: { name: www.example.com, down: [web/192.0.2.1] }`,
  },
  'test-share-unknown': {
    severity: 'error',
    message: 'there is no member "%s", and the test "%s" expects a share of it',
    help: 'write the address of a member, or its host name where it is an alias',
    cause: 'A member that is not there has no share: 0 % of it would hold whatever is answered.',
    bad: `${www}  cases:\n    - expect: { share: [{ member: 192.0.2.9, percent: 0 }] }`,
    good: `${www}  cases:\n    - expect: { share: [{ member: 192.0.2.2, percent: 50 }] }`,
  },
  'test-share-sticky': {
    severity: 'note',
    message: 'the test "%s" expects shares, and %s gives its one client the same member each time',
    help:
      'expect the members of a client, one case for each; what part of all clients a member ' +
      'gets, "gslbd plan" says',
    cause:
      "The step goes by the client's network, and a case asks for one client: a share is 0 or " +
      '100 %, whatever the weights are.',
    bad:
      '# filterChain: [sticky]\ngiven: { name: www.example.com }\ncases:\n' +
      '  - expect: { share: [{ member: 192.0.2.1, percent: 50 }] }',
    good:
      '# filterChain: [sticky]\ngiven: { name: www.example.com }\ncases:\n' +
      '  - { given: { client: 198.51.100.1 }, expect: { members: [192.0.2.1] } }\n' +
      '  - { given: { client: 203.0.113.1 }, expect: { members: [192.0.2.2] } }',
  },
  'test-member-foreign': {
    severity: 'error',
    message: 'the test "%s" of tenant %s takes down "%s" of tenant %s',
    help: 'move the test to tests/, where those of everybody are',
    cause:
      'The test would hold the commits of the other tenant once the member goes: a tenant takes ' +
      'down its own members.',
    bad: '# tenants/shop/tests/a.yaml\ngiven: { name: www.example.com, down: [others/192.0.2.1] }',
    good: '# tests/a.yaml\ngiven: { name: www.example.com, down: [others/192.0.2.1] }',
  },
  'test-name-foreign': {
    severity: 'error',
    message: 'the test "%s" of tenant %s asks for a name of tenant %s',
    help: 'move the test to tests/, where those of everybody are',
    cause: 'A failing test holds the commits of everybody: a tenant tests its own names.',
    bad: '# tenants/shop/tests/a.yaml\ngiven: { name: www.other.example.com }',
    good: '# tests/a.yaml\ngiven: { name: www.other.example.com }',
  },
  'test-name-free': {
    severity: 'error',
    message: 'the test "%s" of tenant %s asks for %s, which nobody has',
    help: 'ask for a name of the tenant, or move the test to tests/, where those of everybody are',
    cause:
      'The test would fail, and hold the commits of everybody, once another tenant takes the name.',
    bad: '# tenants/shop/tests/a.yaml\ngiven: { name: free.example.com }',
    good: '# tests/a.yaml\ngiven: { name: free.example.com }',
  },
  'tests-too-many': {
    severity: 'error',
    message: 'the tests ask %s, and at most %s are asked at each commit',
    help: 'take cases or samples away; what one case shows need not be in a second',
    cause: 'Tests are asked before each commit is accepted: their time is bounded.',
    bad: '# 3,000 cases in all files together',
    good: '# 2,000 cases in all files together',
  },
  'test-cannot-fail': {
    severity: 'note',
    message: 'the test "%s" can never fail: %s',
    help: 'say what has to be answered, or take the case away',
    cause: 'A test that passes whatever happens only looks like one.',
    bad: 'cases:\n  - given: { name: www.example.com }',
    good: 'cases:\n  - given: { name: www.example.com }\n    expect: { rcode: NOERROR }',
  },
  'test-not-judged': {
    severity: 'warning',
    message: 'the test "%s" was not judged: %s',
    help: 'make the script faster; it would be stopped in a node, too',
    cause: 'A script was stopped since it took too long, so the answer was not that of the policy.',
    bad: 'filterChain: ["script: for (;;) {}"]',
    good: 'filterChain: ["script: return members"]',
  },
} as const satisfies Record<string, DiagnosticSpec>

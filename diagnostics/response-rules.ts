// Diagnostics of response policies.
import type { DiagnosticSpec } from './diagnostic-spec.ts'

export const responseRuleDiagnostics = {
  'response-trigger-wildcard': {
    severity: 'error',
    message: 'the trigger "%s" has a wildcard',
    help: 'write triggerType: domain and the name without "*."',
    cause: 'A rule for a domain means the name and everything below it.',
    bad: 'rules:\n  - { triggerType: exact, triggerValue: "*.bad.example", action: nxdomain }',
    good: 'rules:\n  - { triggerType: domain, triggerValue: bad.example, action: nxdomain }',
  },
  'response-rule-duplicate': {
    severity: 'error',
    message: 'there is another %s rule for %s',
    help: 'keep one of the two',
    cause:
      'Nothing says which of two rules for the same name wins, in whatever file they are; case ' +
      'and the trailing dot make no difference.',
    bad:
      'rules:\n  - { triggerType: exact, triggerValue: bad.example, action: nxdomain }\n' +
      '  - { triggerType: exact, triggerValue: BAD.example., action: passthru }',
    good: 'rules:\n  - { triggerType: exact, triggerValue: bad.example, action: nxdomain }',
  },
  'response-target-missing': {
    severity: 'error',
    message: 'the rule for %s makes an alias and does not say of what',
    help: 'add actionTarget with the name that is to answer instead',
    cause: 'A CNAME record has a target.',
    bad: 'rules:\n  - { triggerType: exact, triggerValue: bad.example, action: cname }',
    good:
      'rules:\n  - { triggerType: exact, triggerValue: bad.example, action: cname,\n' +
      '      actionTarget: blocked.example.com }',
  },
  'response-target-ignored': {
    severity: 'warning',
    message: 'actionTarget has no effect on the action %s',
    help: 'write action: cname, or remove the target',
    cause: 'Only an alias has a target.',
    bad:
      'rules:\n  - { triggerType: exact, triggerValue: bad.example, action: nxdomain,\n' +
      '      actionTarget: blocked.example.com }',
    good:
      'rules:\n  - { triggerType: exact, triggerValue: bad.example, action: cname,\n' +
      '      actionTarget: blocked.example.com }',
  },
  'response-cname-loop': {
    severity: 'error',
    message: 'the alias comes back to itself: %s',
    help: 'write a target that no rule makes an alias, or add a passthru rule for the target',
    cause: 'The target is asked for next, and the rules are applied to it, too.',
    bad:
      'rules:\n  - { triggerType: domain, triggerValue: bad.example, action: cname,\n' +
      '      actionTarget: blocked.bad.example }',
    good:
      'rules:\n  - { triggerType: domain, triggerValue: bad.example, action: cname,\n' +
      '      actionTarget: blocked.example.com }',
  },
  'response-rule-without-effect': {
    severity: 'note',
    message: 'the rule for %s changes nothing: %s',
    help: 'remove it; only its own hit count would be lost',
    cause: 'Without the rule the same names get the same answer.',
    bad:
      'rules:\n  - { triggerType: domain, triggerValue: bad.example, action: nxdomain }\n' +
      '  - { triggerType: exact, triggerValue: www.bad.example, action: nxdomain }',
    good: 'rules:\n  - { triggerType: domain, triggerValue: bad.example, action: nxdomain }',
  },
  'response-rule-hides-zone': {
    severity: 'warning',
    message: 'the rule for %s takes the whole zone %s off the air',
    help: 'remove the rule, write a deeper name, or add passthru rules for what shall be answered',
    cause: 'Rules go before everything else: even the SOA and NS records of the zone are gone.',
    bad:
      '# gslb.yaml declares the zone example.com.\n' +
      'rules:\n  - { triggerType: domain, triggerValue: example.com, action: nxdomain }',
    good: 'rules:\n  - { triggerType: domain, triggerValue: old.example.com, action: nxdomain }',
  },
  'response-rule-in-signed-zone': {
    severity: 'warning',
    message: 'the rule for %s answers in the signed zone %s, and its answers are not signed',
    help: 'write signed: true in the rule, or remove it',
    cause: 'A resolver that validates takes such an answer for a forged one, and gives SERVFAIL.',
    bad:
      '# gslb.yaml signs the zone example.com.\n' +
      'rules:\n  - { triggerType: domain, triggerValue: old.example.com, action: nxdomain }',
    good:
      '# gslb.yaml signs the zone example.com.\n' +
      'rules:\n' +
      '  - { triggerType: domain, triggerValue: old.example.com, action: nxdomain, signed: true }',
  },
  'response-rule-signed-by-none': {
    severity: 'warning',
    message: 'signed: true has no effect in the rule for %s: %s',
    help: 'sign the zone, or leave signed out',
    cause: 'Only the keys of a signed zone of this server sign, and not at or below a delegation.',
    bad:
      '# gslb.yaml does not sign the zone example.com.\n' +
      'rules:\n' +
      '  - { triggerType: exact, triggerValue: old.example.com, action: nxdomain, signed: true }',
    good: 'rules:\n  - { triggerType: exact, triggerValue: old.example.com, action: nxdomain }',
  },
  'response-rule-hides-service': {
    severity: 'warning',
    message: 'the rule for %s answers instead of %s',
    help: 'remove the rule or the service, if that was not meant',
    cause: 'Rules go before everything else, so that no client reaches the service by this name.',
    bad:
      '# a service has the domain www.example.com.\n' +
      'rules:\n  - { triggerType: exact, triggerValue: www.example.com, action: nxdomain }',
    good: 'rules:\n  - { triggerType: exact, triggerValue: www2.example.com, action: nxdomain }',
  },
} as const satisfies Record<string, DiagnosticSpec>

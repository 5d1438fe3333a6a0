/** Every other language has the same keys; a missing text is shown in English. */
export const en = {
  'consent.document': 'Connect an application',
  'consent.title': '{application} wants to connect to your {service} account',
  'consent.title.documented':
    '{host}, which calls itself {application}, wants to connect to your {service} account',
  'consent.account': 'Your account',
  'consent.switch': 'Use another account',
  'consent.scopes': '{application} will be able to:',
  'consent.sensitive': '{application} could act or spend in your name:',
  'consent.optional': '{application} will also be able to do what you check:',
  'consent.optional.sensitive': 'With this, it could act or spend in your name.',
  'consent.allowed': 'You already allow',
  'consent.resource': 'It asks for access to {resource} at {host}.',
  'consent.policy': 'Privacy',
  'consent.tos': 'Terms',
  'consent.next': 'You return to {redirect_host}.',
  'consent.device':
    '{application} runs on this device. Continue only if you have just started it here, and never share the address of the next page.',
  'consent.device.itself':
    'It runs on this device. Continue only if you have just started it here, and never share the address of the next page.',
  'consent.end': 'Allow it only if you trust {application}. You can disconnect it at any time.',
  'consent.allow': 'Allow',
  'consent.deny': 'Deny',

  'name.claimed': '“{name}”',
  'name.device': 'An application on this device',
  'name.device.app': 'The application on this device that opens {scheme}: links',
  'name.device.claimed': '{device} ({name})',

  'form.busy': 'One moment…',

  'done.document': 'Connected',
  'done.title': '{application} is connected',
  'done.text':
    'It can use your {service} account until you disconnect it. You can close this page.',
  'done.open': 'Open {application}',

  'end.title': 'Nothing was connected',
  'end.text':
    'No application was connected to your {service} account by this request. You can close this page.',

  'return.link': 'Go back to {target}',
  'return.device': 'the application on this device',
  'return.care': 'Go back to {target} only if you came from there.',

  'connections.title': 'Connected applications',
  'connections.intro': 'These applications are connected to your {service} account.',
  'connections.empty': 'No application is connected to your {service} account.',
  'connections.documented': '{host}, which calls itself {application}',
  'connections.paused': '{service} has paused it. It cannot use your account for now.',
  'connections.scopes': 'It can:',
  'connections.scopes.folded': 'It can do {count} things',
  'connections.since': 'Connected since {date}',
  'connections.used': 'Connected since {date}, last used {day}',
  'connections.resource': 'Has access to {resource} at {host}',
  'connections.choices': 'You chose: {choices}',
  'connections.disconnect': 'Disconnect',
  'connections.more': 'More applications',
  'connections.done': '{application} is disconnected. It can no longer use your account.',
  'connections.done.title': '{application} is disconnected',
  'connections.back': 'Back to {service}',

  'disconnect.title': 'Disconnect {application}?',
  'disconnect.title.device': 'Disconnect this application?',
  'disconnect.text':
    '{application} is signed out of your account at once. It keeps what it has already copied.',
  'disconnect.confirm': 'Disconnect',
  'disconnect.cancel': 'Keep it',

  'error.back': 'Back to {name}',
  'error.details': 'If you ask for help, include these details:',
  'error.code': 'Error',
  'error.request': 'Request',
  'error.client_unknown.title': 'This application is not known here',
  'error.client_unknown.text':
    'The link that brought you here names no application that {service} knows. Nothing was connected. Go back to the application and tell its developers.',
  'error.client_unknown.id': 'For the developers of the application: it sent this client_id.',
  'error.client_document_invalid.title': 'This application can’t say who it is',
  'error.client_document_invalid.text':
    'It describes itself in a document at its own address, and that document can’t be used. Nothing was connected. Go back to the application and tell its developers.',
  'error.client_document_invalid.problem':
    'For the developers of the application, about the document at its client_id:',
  'error.client_document_unavailable.title': 'This application can’t be reached right now',
  'error.client_document_unavailable.text':
    'It describes itself in a document at its own address, and that does not respond as it should. Nothing was connected. Try again in a moment.',
  'error.request_refused.title': 'The application asked in a wrong way',
  'error.request_refused.text':
    '{service} can’t do what it asked for. Nothing was connected. Tell the developers of the application.',
  'error.request_refused.problem': 'For the developers of the application, about its request:',
  'error.redirect_uri_unregistered.title': 'This link does not lead back to its application',
  'error.redirect_uri_unregistered.text':
    'The application asked to send you to an address that is not registered for it, so you stay here. Nothing was connected. Go back to the application and tell its developers.',
  'error.redirect_uri_unregistered.address':
    'For the developers of the application: this address is not registered for it.',
  'error.state_invalid.title': 'This link is damaged',
  'error.state_invalid.text':
    'A part of the link that brought you here is missing or was changed. Nothing was connected. Go back to the application and connect again.',
  'error.link_expired.title': 'This request has expired',
  'error.link_expired.text':
    'It took more than an hour, so nothing was connected. Go back to the application and connect again.',
  'error.link_decided.title': 'You have already answered',
  'error.link_decided.text':
    'This request was already allowed or denied, and that cannot be changed. Go back to the application to continue.',
  'error.page_expired.title': 'This page has expired',
  'error.page_expired.text': 'Nothing was connected. Start again in the application.',
  'error.cookies_refused.title': 'Your browser keeps no cookies here',
  'error.cookies_refused.text':
    'This page needs a cookie of {host}. Nothing was connected. Allow the cookies of {host}, or open the link in your usual browser, and start again in the application.',
  'error.navigation.title': 'One more step',
  'error.navigation.text':
    'Your browser has not opened this page for you yet. Nothing has happened.',
  'error.navigation.continue': 'Continue',
  'error.form_rejected.title': 'Your answer was not accepted',
  'error.form_rejected.text':
    'It did not come from the page that was shown to you, so nothing was done. Open the page again, and answer there.',
  'error.form_rejected.again': 'Open the page again',
  'error.parameter_invalid.title': 'Your answer was not understood',
  'error.parameter_invalid.text':
    'Nothing was done. Go back, reload the page, and choose where it asks you to. Then use one of its buttons.',
  'error.route_not_found.title': 'This page does not exist',
  'error.route_not_found.text':
    'The address may be cut short or mistyped. Open the link again where you found it.',
  'error.rate_limited.title': 'Too many attempts',
  'error.rate_limited.text':
    'Too many requests came from your network. Nothing was done. Wait a minute, and try again.',
  'error.unavailable.title': 'Not available right now',
  'error.unavailable.text':
    'The service that connects accounts can’t be reached. Wait a minute, and try again.',
  'error.internal_error.title': 'Something went wrong',
  'error.internal_error.text': 'This is our fault. Try again. If it happens again, tell {service}.',
} as const;

export type TextKey = keyof typeof en;

export type Texts = { readonly [Key in TextKey]?: string };

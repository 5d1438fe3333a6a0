import type { TextKey } from './en.ts';

export const de: { readonly [Key in TextKey]: string } = {
  'consent.document': 'Anwendung verbinden',
  'consent.title': '{application} möchte sich mit Ihrem Konto bei {service} verbinden',
  'consent.title.documented':
    '{host}, nach eigener Angabe {application}, möchte sich mit Ihrem Konto bei {service} verbinden',
  'consent.account': 'Ihr Konto',
  'consent.switch': 'Anderes Konto verwenden',
  'consent.scopes': '{application} kann dann:',
  'consent.sensitive': '{application} könnte in Ihrem Namen handeln oder Geld ausgeben:',
  'consent.optional': '{application} kann außerdem, was Sie ankreuzen:',
  'consent.optional.sensitive':
    'Damit könnte die Anwendung in Ihrem Namen handeln oder Geld ausgeben.',
  'consent.allowed': 'Sie erlauben bereits',
  'consent.resource': 'Sie möchte auf {resource} unter {host} zugreifen.',
  'consent.policy': 'Datenschutz',
  'consent.tos': 'Nutzungsbedingungen',
  'consent.next': 'Sie kehren zu {redirect_host} zurück.',
  'consent.device':
    '{application} läuft auf diesem Gerät. Machen Sie nur weiter, wenn Sie es gerade eben hier gestartet haben, und geben Sie die Adresse der folgenden Seite niemals weiter.',
  'consent.device.itself':
    'Sie läuft auf diesem Gerät. Machen Sie nur weiter, wenn Sie sie gerade eben hier gestartet haben, und geben Sie die Adresse der folgenden Seite niemals weiter.',
  'consent.end':
    'Stimmen Sie nur zu, wenn Sie {application} vertrauen. Sie können die Verbindung jederzeit trennen.',
  'consent.allow': 'Zulassen',
  'consent.deny': 'Ablehnen',

  'name.claimed': '„{name}“',
  'name.device': 'Eine Anwendung auf diesem Gerät',
  'name.device.app': 'Die Anwendung auf diesem Gerät für {scheme}:-Links',
  'name.device.claimed': '{device} ({name})',

  'form.busy': 'Einen Moment …',

  'done.document': 'Verbunden',
  'done.title': '{application} ist verbunden',
  'done.text':
    'Die Anwendung kann Ihr Konto bei {service} verwenden, bis Sie die Verbindung trennen. Sie können diese Seite schließen.',
  'done.open': '{application} öffnen',

  'end.title': 'Es wurde nichts verbunden',
  'end.text':
    'Durch diese Anfrage wurde keine Anwendung mit Ihrem Konto bei {service} verbunden. Sie können diese Seite schließen.',

  'return.link': 'Zurück zu {target}',
  'return.device': 'der Anwendung auf diesem Gerät',
  'return.care': 'Gehen Sie nur zurück zu {target}, wenn Sie von dort gekommen sind.',

  'connections.title': 'Verbundene Anwendungen',
  'connections.intro': 'Diese Anwendungen sind mit Ihrem Konto bei {service} verbunden.',
  'connections.empty': 'Mit Ihrem Konto bei {service} ist keine Anwendung verbunden.',
  'connections.documented': '{host}, nach eigener Angabe {application}',
  'connections.paused': '{service} hat sie angehalten. Sie kann Ihr Konto zurzeit nicht verwenden.',
  'connections.scopes': 'Sie kann:',
  'connections.scopes.folded': 'Sie kann {count} Dinge',
  'connections.since': 'Verbunden seit {date}',
  'connections.used': 'Verbunden seit {date}, zuletzt benutzt: {day}',
  'connections.resource': 'Hat Zugriff auf {resource} bei {host}',
  'connections.choices': 'Sie haben gewählt: {choices}',
  'connections.disconnect': 'Trennen',
  'connections.more': 'Weitere Anwendungen',
  'connections.done': '{application} ist getrennt und kann Ihr Konto nicht mehr verwenden.',
  'connections.done.title': '{application} ist getrennt',
  'connections.back': 'Zurück zu {service}',

  'disconnect.title': '{application} trennen?',
  'disconnect.title.device': 'Diese Anwendung trennen?',
  'disconnect.text':
    '{application} wird sofort von Ihrem Konto abgemeldet. Was es vorher kopiert hat, behält es.',
  'disconnect.confirm': 'Trennen',
  'disconnect.cancel': 'Behalten',

  'error.back': 'Zurück zu {name}',
  'error.details': 'Wenn Sie um Hilfe bitten, geben Sie diese Angaben weiter:',
  'error.code': 'Fehler',
  'error.request': 'Anfrage',
  'error.client_unknown.title': 'Diese Anwendung ist hier nicht bekannt',
  'error.client_unknown.text':
    'Der Link, über den Sie gekommen sind, nennt keine Anwendung, die {service} kennt. Es wurde nichts verbunden. Gehen Sie zurück zur Anwendung und geben Sie dort Bescheid.',
  'error.client_unknown.id': 'Für die Entwickler der Anwendung: Sie hat diese client_id geschickt.',
  'error.client_document_invalid.title': 'Diese Anwendung kann nicht sagen, wer sie ist',
  'error.client_document_invalid.text':
    'Sie beschreibt sich an einer eigenen Adresse, und was dort steht, ist nicht zu gebrauchen. Es wurde nichts verbunden. Gehen Sie zurück zur Anwendung und geben Sie dort Bescheid.',
  'error.client_document_invalid.problem':
    'Für die Entwickler der Anwendung, zum Dokument an ihrer client_id:',
  'error.client_document_unavailable.title': 'Diese Anwendung ist zurzeit nicht erreichbar',
  'error.client_document_unavailable.text':
    'Sie beschreibt sich an einer eigenen Adresse, und dort kommt gerade keine brauchbare Antwort. Es wurde nichts verbunden. Versuchen Sie es gleich noch einmal.',
  'error.request_refused.title': 'Die Anwendung hat falsch angefragt',
  'error.request_refused.text':
    '{service} kann nicht tun, worum sie gebeten hat. Es wurde nichts verbunden. Geben Sie den Entwicklern der Anwendung Bescheid.',
  'error.request_refused.problem': 'Für die Entwickler der Anwendung, zu ihrer Anfrage:',
  'error.redirect_uri_unregistered.title': 'Dieser Link führt nicht zu seiner Anwendung zurück',
  'error.redirect_uri_unregistered.text':
    'Die Anwendung wollte Sie an eine Adresse schicken, die für sie nicht eingetragen ist, deshalb bleiben Sie hier. Es wurde nichts verbunden. Gehen Sie zurück zur Anwendung und geben Sie dort Bescheid.',
  'error.redirect_uri_unregistered.address':
    'Für die Entwickler der Anwendung: Diese Adresse ist für sie nicht eingetragen.',
  'error.state_invalid.title': 'Dieser Link ist beschädigt',
  'error.state_invalid.text':
    'Ein Teil des Links, über den Sie gekommen sind, fehlt oder wurde verändert. Es wurde nichts verbunden. Gehen Sie zurück zur Anwendung und verbinden Sie sie erneut.',
  'error.link_expired.title': 'Diese Anfrage ist abgelaufen',
  'error.link_expired.text':
    'Es ist mehr als eine Stunde vergangen, deshalb wurde nichts verbunden. Gehen Sie zurück zur Anwendung und verbinden Sie sie erneut.',
  'error.link_decided.title': 'Sie haben schon geantwortet',
  'error.link_decided.text':
    'Diese Anfrage wurde bereits zugelassen oder abgelehnt, und dabei bleibt es. Gehen Sie zurück zur Anwendung, um fortzufahren.',
  'error.page_expired.title': 'Diese Seite ist abgelaufen',
  'error.page_expired.text': 'Es wurde nichts verbunden. Beginnen Sie in der Anwendung von vorn.',
  'error.cookies_refused.title': 'Ihr Browser speichert hier keine Cookies',
  'error.cookies_refused.text':
    'Diese Seite braucht ein Cookie von {host}. Es wurde nichts verbunden. Lassen Sie die Cookies von {host} zu, oder öffnen Sie den Link in Ihrem gewohnten Browser, und beginnen Sie in der Anwendung noch einmal.',
  'error.navigation.title': 'Noch ein Schritt',
  'error.navigation.text':
    'Ihr Browser hat diese Seite noch nicht für Sie geöffnet. Es ist nichts geschehen.',
  'error.navigation.continue': 'Weiter',
  'error.form_rejected.title': 'Ihre Antwort wurde nicht angenommen',
  'error.form_rejected.text':
    'Sie kam nicht von der Seite, die Ihnen gezeigt wurde, deshalb ist nichts geschehen. Öffnen Sie die Seite noch einmal und antworten Sie dort.',
  'error.form_rejected.again': 'Seite noch einmal öffnen',
  'error.parameter_invalid.title': 'Ihre Antwort wurde nicht verstanden',
  'error.parameter_invalid.text':
    'Es ist nichts geschehen. Gehen Sie zurück, laden Sie die Seite neu und wählen Sie etwas aus, wo sie danach fragt. Antworten Sie dann mit einer ihrer Schaltflächen.',
  'error.route_not_found.title': 'Diese Seite gibt es nicht',
  'error.route_not_found.text':
    'Die Adresse ist vielleicht gekürzt oder falsch geschrieben. Öffnen Sie den Link noch einmal dort, wo Sie ihn gefunden haben.',
  'error.rate_limited.title': 'Zu viele Versuche',
  'error.rate_limited.text':
    'Aus Ihrem Netz kamen zu viele Anfragen. Es ist nichts geschehen. Warten Sie eine Minute und versuchen Sie es noch einmal.',
  'error.unavailable.title': 'Zurzeit nicht verfügbar',
  'error.unavailable.text':
    'Der Dienst, der Konten verbindet, ist nicht erreichbar. Warten Sie eine Minute und versuchen Sie es noch einmal.',
  'error.internal_error.title': 'Etwas ist schiefgegangen',
  'error.internal_error.text':
    'Das ist ein Fehler auf unserer Seite. Versuchen Sie es noch einmal. Geschieht es wieder, geben Sie {service} Bescheid.',
};

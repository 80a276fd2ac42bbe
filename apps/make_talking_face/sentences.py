"""Sentences and voices for random clips."""

VARIANTS = ("", "+f1", "+f2", "+f3", "+f4", "+m1", "+m2", "+m3", "+m4", "+m5", "+m6", "+m7")

_ENGLISH = (
    "Please move the blue box above the map.",
    "My mother bought five warm pullovers in Bombay.",
    "The weather will be fine by the end of the week.",
    "We open the shop before half past seven.",
    "A small boat passed beneath the old bridge.",
    "Bob may bring a pot of apple jam.",
    "Nobody knew who had painted the front door.",
    "Every summer the whole family meets at the farm.",
    "Can you hear me now, or is the sound still late?",
    "The next train to the airport leaves from platform four.",
    "Fresh bread and warm milk make a good breakfast.",
    "She asked for a window seat above the wing.",
    "Put the big spoon back in the top drawer, please.",
    "Most people believe what they have seen themselves.",
    "The museum opens from Monday to Saturday.",
    "Five brave firemen saved the village last October.",
)

SENTENCES = {
    "en": _ENGLISH,
    "en-us": _ENGLISH,
    "en-gb-scotland": _ENGLISH,
    "en-gb-x-rp": _ENGLISH,
    "de": (
        "Am Abend gehen wir gern am Fluss spazieren.",
        "Mein Bruder baut ein kleines Haus am Waldrand.",
        "Das Brot vom Bäcker nebenan schmeckt am besten.",
        "Bitte machen Sie das Fenster wieder zu.",
        "Wir haben fünf Pferde und zwei junge Hunde.",
        "Morgen früh fährt der Zug um halb sieben ab.",
        "Im Sommer blühen überall bunte Blumen.",
        "Hast du meinen blauen Mantel gesehen?",
    ),
    "fr": (
        "Nous prenons le petit déjeuner à huit heures.",
        "Ma voisine habite une maison au bord de la mer.",
        "Le bateau part demain matin pour la Bretagne.",
        "Il faut beaucoup de patience pour apprendre.",
        "Pouvez-vous fermer la porte, s'il vous plaît?",
        "Les enfants jouent au ballon dans le parc.",
        "Mon père prépare une bonne soupe de légumes.",
        "Vous verrez un beau village après le pont.",
    ),
    "es": (
        "Mi abuela prepara una sopa muy buena.",
        "El barco blanco sale mañana por la mañana.",
        "Vivimos cerca del puerto desde hace mucho tiempo.",
        "Por favor, abre un poco la ventana.",
        "Los amigos de Pablo viajan en un viejo autobús.",
        "Siempre tomo café con leche antes de trabajar.",
        "Me gusta pasear por el parque los domingos.",
        "Hemos comprado cinco libros y un mapa.",
    ),
    "it": (
        "Domani mattina andiamo insieme al mercato.",
        "Mia madre prepara un buon piatto di pasta.",
        "Il bambino ha perso la palla nel parco.",
        "Vorrei un caffè e un bicchiere d'acqua, per favore.",
        "La barca bianca parte prima di mezzogiorno.",
        "Abbiamo visto un bel film la settimana scorsa.",
        "Puoi aprire la finestra, per piacere?",
        "In estate dormiamo spesso fuori, sotto le stelle.",
    ),
    "pt-br": (
        "Minha família mora perto de uma bela praia.",
        "Você pode abrir a porta, por favor?",
        "O barco parte amanhã bem cedo.",
        "Meu pai bebe um pouco de café pela manhã.",
        "As crianças brincam no parque depois da escola.",
        "Compramos pão, manteiga e um bom queijo.",
        "O museu fica aberto até as seis horas.",
        "Faz muito tempo que não vejo meus amigos.",
    ),
    "tr": (
        "Bu sabah pazardan taze meyve aldım.",
        "Babam bahçede büyük bir masa yapıyor.",
        "Lütfen pencereyi biraz açar mısın?",
        "Yarın akşam bizim eve misafir gelecek.",
        "Küçük kedi bütün gün pencerenin önünde uyudu.",
        "Vapur iskeleden beş dakika önce ayrıldı.",
        "Bence bu film öbüründen daha güzel.",
    ),
    "ar": (
        "مرحبا بكم في نشرة الأخبار.",
        "ذهب الولد إلى المدرسة مع أمه.",
        "من فضلك افتح الباب قبل المساء.",
        "يبيع أبي الفواكه في السوق الكبير.",
        "وصلت الباخرة إلى الميناء هذا الصباح.",
        "أحب أن أشرب القهوة مع أصدقائي.",
        "بدأ المطر يهطل فوق المدينة.",
    ),
    "ru": (
        "Мама купила белый хлеб и молоко.",
        "Поезд приходит на вокзал в половине пятого.",
        "Летом мы живём в маленьком доме у моря.",
        "Мой брат любит плавать в тёплой воде.",
        "Будьте добры, откройте, пожалуйста, окно.",
        "Вечером вся семья собирается за столом.",
        "Под мостом медленно проплыла большая баржа.",
    ),
    "el": (
        "Καλημέρα σε όλους, πώς είστε σήμερα;",
        "Το πλοίο φεύγει από το λιμάνι το πρωί.",
        "Η μητέρα μου ψήνει πολύ καλό ψωμί.",
        "Παρακαλώ άνοιξε λίγο το παράθυρο.",
        "Το βράδυ βγαίνουμε μαζί για περίπατο.",
    ),
    "pl": (
        "Moja mama piecze bardzo dobry chleb.",
        "Pociąg do Warszawy odjeżdża o wpół do ósmej.",
        "Proszę zamknąć okno, bo pada deszcz.",
        "Latem pływamy łódką po małym jeziorze.",
        "Brat kupił pięć jabłek i butelkę wody.",
    ),
    "nl": (
        "Mijn broer bouwt een boot in de schuur.",
        "Wij eten brood met boter en kaas.",
        "Wil je het raam even opendoen, alsjeblieft?",
        "Morgenvroeg vertrekt de bus om half zeven.",
        "In de zomer fietsen we vaak naar het strand.",
    ),
    "sv": (
        "Min bror bygger en båt nere vid bryggan.",
        "Kan du öppna fönstret lite grann?",
        "På sommaren badar vi ofta i sjön.",
        "Mamma bakar bröd och kokar sylt.",
        "Tåget går från perrong fem om en timme.",
    ),
    "hi": (
        "मेरी माँ बाज़ार से ताज़े फल लाई।",
        "कृपया खिड़की थोड़ी खोल दीजिए।",
        "सुबह हम नदी के पास घूमने गए।",
        "मेरा भाई बड़ी बस में बैठा है।",
        "बच्चे पार्क में गेंद से खेल रहे हैं।",
    ),
    "id": (
        "Ibu membeli buah segar di pasar pagi.",
        "Tolong bukakan pintu itu sebentar.",
        "Kami berjalan bersama ke tepi pantai.",
        "Bapak membaca buku baru di beranda.",
        "Kapal besar itu berangkat besok pagi.",
    ),
    "sw": (
        "Mama anapika chakula kitamu nyumbani.",
        "Tafadhali fungua mlango mkubwa.",
        "Watoto wanacheza mpira uwanjani.",
        "Baba amenunua mboga na samaki sokoni.",
        "Mashua ndogo imefika bandarini asubuhi.",
    ),
}


def random_voice(rng):
    languages = list(SENTENCES)
    return languages[rng.integers(len(languages))] + VARIANTS[rng.integers(len(VARIANTS))]


def has_sentences(voice):
    return voice.split("+")[0] in SENTENCES


def random_sentences(rng, voice):
    """All sentences in the language of the voice, in random order."""
    sentences = SENTENCES[voice.split("+")[0]]
    return [sentences[index] for index in rng.permutation(len(sentences))]
